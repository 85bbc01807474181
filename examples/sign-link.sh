#!/bin/sh
# Signs a link to GET /screenshot for an hour: sh examples/sign-link.sh '/screenshot?url=https%3A%2F%2Fexample.com'
set -eu
target=$1
key=$CAPSTAN_SIGNING_KEY

signed="$target&expires=$(($(date +%s) + 3600))"
signature=$(printf %s "$signed" | openssl dgst -sha256 -hmac "$key" -r | cut -d ' ' -f 1)
echo "$signed&signature=$signature"
