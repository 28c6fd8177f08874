"""Settings of attachments and their storage. `.env.example` describes the variables that are read here."""

from __future__ import annotations

from config.env import Env

env = Env()

#: Bucket of an S3-compatible storage. If this is empty, attachments are stored under `var/media/`.
AWS_STORAGE_BUCKET_NAME = env.text("AWS_STORAGE_BUCKET_NAME")
#: URL of the S3-compatible server if it is not Amazon's.
AWS_S3_ENDPOINT_URL = env.url("AWS_S3_ENDPOINT_URL", ("http", "https")) or None
#: The part of the URL that names the bucket: `virtual` in the host, `path` in the path. `auto`: in the path for other
#: servers than Amazon's, which needs no DNS of its own.
AWS_S3_ADDRESSING_STYLE = env.choice("AWS_S3_ADDRESSING_STYLE", ("auto", "path", "virtual"))
#: Region of the bucket.
AWS_S3_REGION_NAME = env.text("AWS_S3_REGION_NAME") or None

#: Access key of the bucket. If this is empty, the machine's own role is used.
AWS_ACCESS_KEY_ID = env.secret("AWS_ACCESS_KEY_ID") or None
#: Secret of that access key.
AWS_SECRET_ACCESS_KEY = env.secret("AWS_SECRET_ACCESS_KEY") or None
#: Maximum delay, in seconds, between two attempts to upload an attachment while storage fails.
UPLOAD_RETRY_LIMIT_S = env.integer("UPLOAD_RETRY_LIMIT_S", 300, minimum=1)

#: Largest uploaded file, in bytes.
UPLOAD_LIMIT_BYTES = 15 * 1024 * 1024
#: Largest file that a person can import, in bytes. It is uploaded in pieces and imported by a worker.
IMPORT_LIMIT_BYTES = 2 * 1024**3
