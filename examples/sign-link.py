"""Signs a link to GET /screenshot for an hour: python3 examples/sign-link.py '/screenshot?url=https%3A%2F%2Fexample.com'"""

import hashlib
import hmac
import os
import sys
import time

target = sys.argv[1]
key = os.environ["CAPSTAN_SIGNING_KEY"]

signed = f"{target}&expires={int(time.time()) + 3600}"
signature = hmac.new(key.encode(), signed.encode(), hashlib.sha256).hexdigest()
print(f"{signed}&signature={signature}")
