#!/bin/sh
# aws4fetch 1.0.20 does not repeat a request whose body is a stream, and hides the answer of the server.
#
# Expected: a PUT that is answered 503 is repeated ("retries: 10" by default), or its 503 is returned.
# Seen: with a string as the body it is repeated; with a ReadableStream the promise rejects with a TypeError of the
# runtime about a body that was used, after one request.
#
# Exits with 0 while this is so, with 1 when it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts aws4fetch@1.0.20
cat >probe.js <<'PROBE'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { AwsClient } from 'aws4fetch';

let requests = 0;
const server = createServer(async (request, response) => {
  for await (const _ of request);
  requests += 1;
  response.writeHead(requests === 1 ? 503 : 200).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const client = new AwsClient({
  accessKeyId: 'id',
  secretAccessKey: 'secret',
  service: 's3',
  region: 'here',
  initRetryMs: 5,
});
const url = `http://127.0.0.1:${server.address().port}/bucket/key`;
const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
const put = async (body) => {
  requests = 0;
  const outcome = await client.fetch(url, { method: 'PUT', body, headers, duplex: 'half' }).then(
    ({ status }) => status,
    (error) => error.name,
  );
  return [outcome, requests];
};
const seen = [await put('text'), await put(new Blob(['text']).stream())];
server.close();
console.log(JSON.stringify(seen));
process.exit(JSON.stringify(seen) === '[[200,2],["TypeError",1]]' ? 0 : 1);
PROBE
node probe.js
