# Every target does its own set-up and skips what is done already; `make` alone lists them.
# Nothing is installed outside .venv, but for system packages where this user may (root, or sudo without a password).

PORT ?= 8000
PYTHON ?= python3
BIN := .venv/bin
export PORT

.PHONY: help run test check bench requirements
help:
	@echo "make run      set up, then serve on http://127.0.0.1:$(PORT) (PORT=8123 make run: another port)"
	@echo "make test     set up, then run every test, in several workers (ARGS='-n 4': so many)"
	@echo "make check    lint, formatting, types, import contracts, templates, migrations, Django's own checks"
	@echo "make bench    measure the relay (ARGS='--full --repeat 3': longer; see docs/benchmarks.md)"
	@echo "make requirements   pin again after a change of requirements*.in (ARGS=--upgrade: newest versions)"

run: .venv/installed
	@deploy/system-packages run || echo "Plotline starts without them; what needs them will say so."
	@exec deploy/run

# Each server that a test starts would compile all of it anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/installed-dev
	@deploy/system-packages test
	@exec $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

check: export DEBUG := 1
check: export DATABASE_URL :=
check: export REDIS_URL :=
check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/djlint templates attachments --lint --quiet
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check --fail-level WARNING
	@key=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(60))'); \
	  echo "manage.py check --deploy, as in production"; \
	  SECRET_KEY=$$key DEBUG=0 HTTPS=1 $(BIN)/python manage.py check --deploy --fail-level WARNING

bench: .venv/installed-dev
	@exec $(BIN)/python -m bench $(ARGS)

# pip-tools stands in no requirements file: it would bring a pip of its own into every environment.
PIN := $(BIN)/pip-compile --quiet --strip-extras --no-header --no-emit-index-url --no-emit-find-links \
  --no-emit-trusted-host --no-emit-options --annotation-style=line
requirements: .venv/installed
	$(BIN)/pip install --quiet pip-tools
	$(PIN) $(ARGS) --output-file requirements.txt requirements.in
	$(PIN) $(ARGS) --output-file requirements-dev.txt requirements-dev.in

.venv/created:
	@deploy/virtual-environment $(PYTHON)
	@touch $@

.venv/installed: requirements.txt | .venv/created
	@echo "Installing requirements.txt into .venv (a minute or two)"
	@$(BIN)/pip install -qq --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing requirements-dev.txt into .venv"
	@$(BIN)/pip install -qq --disable-pip-version-check -r requirements-dev.txt
	@echo "Fetching the specifications of Markdown, whose examples are tests"
	@$(BIN)/pip download -qq --disable-pip-version-check --no-deps --no-binary marko marko==2.2.4 --dest .venv/specifications
	@touch $@
