# Every target does its own set-up and skips what is done already; `make` alone lists them.
# Packages are installed into two environments: .venv runs the server. .venv-kernel runs code in the sandbox: of Python
# sessions, of the demo model, and for the previews of tables.
# System packages are installed only if this user may do so (root, or sudo without a password).

PORT ?= 8000
PYTHON ?= python3
BIN := .venv/bin
# Each file must have a hash of the requirements file, so a package that was replaced in the index is not installed.
PIP_INSTALL := pip install -qq --disable-pip-version-check --require-hashes
INTENT := chat/answering/prompt/intent
WEIGHTS := $(INTENT)/weights.tsv
SCRIPTS := node_modules/.package-lock.json
export PORT
# Both environments are installed at the same time.
MAKEFLAGS += --jobs=2

.PHONY: help setup run test test-drills test-postgresql check bench drills screenshots messages requirements
help:
	@echo "make setup    create what a server needs: both environments, the weights of the mode \"auto\", and Temml, which draws formulas"
	@echo "make run      set up, then serve on http://127.0.0.1:$(PORT) (PORT=8123 make run: another port)"
	@echo "make test     set up, then run the tests of every change, in several workers (ARGS='-n 2': two of them)"
	@echo "              DATABASE_URL=postgres://... make test: on PostgreSQL, as a user who may create databases"
	@echo "make test-postgresql   the tests of what differs between databases, on a PostgreSQL server of their own"
	@echo "make check    lint, formatting, types, import contracts, templates, migrations, Django's own checks"
	@echo "make bench    measure the relay (ARGS='--full --repeat 3': longer; see docs/benchmarks.md)"
	@echo "make drills   set up, then run the tests that take long, and let parts of a whole installation fail, up to an hour"
	@echo "              (ARGS='database-away': only this part; see docs/drills.md)"
	@echo "make test-drills   only the tests that take long (ARGS='tests/browser': those of a folder; see docs/drills.md)"
	@echo "make screenshots   draw the main states into docs/screenshots, about a minute"
	@echo "make messages   bring the words under locale up to date with the code; see docs/languages.md"
	@echo "make requirements   pin packages and their hashes again after a change of requirements*.in, and check that each pin can be installed"
	@echo "              on every supported Python and processor (ARGS=--upgrade: newest versions)"

setup: .venv/installed .venv-kernel/installed $(WEIGHTS) $(SCRIPTS)

run: setup
	@deploy/system-packages run || echo "Plotline starts all the same; features that need this will say so."
	@exec deploy/run

# Without stored bytecode, each server that a test starts would compile every module again.
test: export PYTHONDONTWRITEBYTECODE :=
test: setup .venv/installed-dev
	@deploy/system-packages test
	@exec $(BIN)/python -m tests.runner -n auto --dist loadfile --no-loadscope-reorder --durations=40 --durations-min=2 $(ARGS)

# Queries, locks, triggers and connections differ between databases. ARGS=tests runs everything, which takes much longer than
# with SQLite.
DATABASE_TESTS := tests/chat/models/full_text tests/chat/people/quotas tests/chat/admin/statistics tests/chat/models/test_database_thread.py \
  tests/chat/models/test_deletion.py tests/chat/models/test_limits_at_once.py tests/chat/library/test_conversation_list.py tests/chat/page/transcript/test_gallery.py tests/attachments/test_deletions.py \
  tests/attachments/test_account_deletion.py tests/chat/answering/turns/test_old_logs.py \
  tests/chat/answering/turns/test_outages.py tests/chat/answering/turns/test_recovery.py tests/chat/admin/test_superusers.py tests/chat/admin/test_deletion.py \
  tests/chat/python/sessions/test_limits.py tests/config/test_database_timeouts.py tests/chat/models/test_plain_sql.py \
  tests/chat/answering/turns/test_start.py tests/chat/answering/turns/test_session_files.py tests/chat/providers/catalogue/test_setups.py \
  tests/chat/providers/catalogue/test_endpoint_choices.py
test-postgresql: export PYTHONDONTWRITEBYTECODE :=
test-postgresql: setup .venv/installed-dev
	@deploy/system-packages test-postgresql
	@exec $(BIN)/python -m tests.with_postgresql $(BIN)/python -m tests.runner -n auto --dist loadfile \
	  --no-loadscope-reorder -m "drill or not drill" $(or $(ARGS),$(DATABASE_TESTS))

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

# A server that compiles its modules itself takes 10 MB more.
bench: export PYTHONDONTWRITEBYTECODE :=
bench: setup .venv/installed-dev
	@deploy/system-packages test || echo "Benchmarks that need these packages will fail."
	@exec $(BIN)/python -m bench $(ARGS)

drills: export PYTHONDONTWRITEBYTECODE :=
drills: export PLOTLINE_TEST_RUN_LIMIT_S := 3600
drills: setup .venv/installed-dev
	@deploy/system-packages drills || echo "Drills that need these packages will fail."
	@$(if $(ARGS),true,$(MAKE) --no-print-directory test-drills && $(MAKE) --no-print-directory test-postgresql)
	@exec $(BIN)/python -m tests.drills $(ARGS)

# One worker, because many drills measure or load the machine. Tests of properties are run too, with more examples.
test-drills: export PLOTLINE_TEST_EXAMPLES := 200
test-drills: setup .venv/installed-dev
	@deploy/system-packages test
	@exec $(BIN)/python -m tests.runner -n 1 -m "drill or hypothesis" -W error::pytest.PytestUnraisableExceptionWarning \
	  -W error::pytest.PytestUnhandledThreadExceptionWarning $(ARGS)

screenshots: export PYTHONDONTWRITEBYTECODE :=
screenshots: setup .venv/installed-dev
	@deploy/system-packages test
	@exec $(BIN)/python -m tests.browser.screenshots docs/screenshots

messages: .venv/installed-dev
	@exec $(BIN)/python -m tests.languages

# No requirements file lists uv, because only this target needs it.
requirements: .venv/created
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.9
	@deploy/pin-requirements $(ARGS)

.venv/created:
	@deploy/virtual-environment $(PYTHON) .venv
	@touch $@

# The classifier that decides for the mode "auto" whether code helps.
$(WEIGHTS): $(wildcard $(INTENT)/*.py $(INTENT)/words/*.py $(INTENT)/prompts/*.tsv) | .venv/created
	@echo "Training the classifier of the mode \"auto\" (some seconds)"
	@$(BIN)/python -m chat.answering.prompt.intent.training

# Temml draws formulas. npm checks the hash of package-lock.json.
$(SCRIPTS): package-lock.json deploy/npm.txt | .venv/created
	@echo "Fetching Temml, which draws formulas, into node_modules"
	@{ deploy/retry deploy/npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; } || \
	  echo "Plotline works all the same, but shows formulas as source. If npm needs another registry, set NPM_CONFIG_REGISTRY; then run \"make setup\" again."

# Created second, because the first may have to install a system package.
.venv-kernel/created: | .venv/created
	@deploy/virtual-environment $(PYTHON) .venv-kernel
	@touch $@

# pip would compile every module, and the environment would grow by a quarter. Python stores the bytecode of a module when
# it is first imported, so `manage.py check` is run for its imports. Its errors are ignored here: the server reports them.
.venv/installed: requirements.txt | .venv/created
	@echo "Installing requirements.txt into .venv (about a minute)"
	@deploy/retry $(BIN)/$(PIP_INSTALL) --no-compile -r requirements.txt
	@DEBUG=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python manage.py check >/dev/null 2>&1 || true
	@touch $@

# The sandbox cannot store bytecode, so all modules are compiled here, except for the tests of packages. A module that
# does not compile is left to Python.
.venv-kernel/installed: requirements-kernel.txt | .venv-kernel/created
	@echo "Installing requirements-kernel.txt into .venv-kernel (about a minute)"
	@deploy/retry .venv-kernel/bin/$(PIP_INSTALL) --no-compile -r requirements-kernel.txt
	@.venv-kernel/bin/python -m compileall -qq --workers 0 -x '/tests?/' .venv-kernel/lib || true
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing requirements-dev.txt into .venv"
	@deploy/retry $(BIN)/$(PIP_INSTALL) -r requirements-dev.txt
	@echo "Downloading the specifications of Markdown, whose examples are tests"
	@echo "marko==2.2.4 --hash=sha256:c042c66f835425673123d7536b39b4660de3b68e30078c70fd26245b31170683" >.venv/specifications.txt
	@deploy/retry $(BIN)/pip download -qq --disable-pip-version-check --require-hashes --no-deps --no-binary marko -r .venv/specifications.txt --dest .venv/specifications
	@touch $@
