import { MAX_URL_CHARACTERS, type RequestLimits } from '../../capture/request.ts';
import { packageVersion } from '../../version.ts';
import { TAGS } from '../route.ts';
import { ROUTES } from '../routes/all.ts';
import { componentSchemas } from './components.ts';
import { failureAnswer } from './failures.ts';
import { RESPONSE_HEADERS } from './headers.ts';
import type { JsonObject } from './json-object.ts';
import { pathsOf } from './paths.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  readonly security: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly paths: JsonObject;
  readonly components: JsonObject;
}

const DESCRIPTION = `Captures web pages (screenshot and HTML copy) on demand, keeps what it saw, and answers later questions about it.

Every JSON answer but the bare arrays is an envelope: \`success\`, \`message\`, \`data\`, \`error\`, \`code\` and \`request_id\`. Of a failure, \`error\` tells people what went wrong with this request and suffices by itself; \`message\` is the general meaning of the code; \`code\` is for programs, and its meaning never changes. Every answer carries \`X-Request-Id\`.

With a key configured, everything but \`/session\`, and \`GET\` and \`HEAD\` of \`/livez\`, \`/readyz\` and \`/openapi.json\`, is answered 401 without it, unknown paths and methods included. An unknown path is 404 \`not_found\`; a known one with a method that it does not have is 405 \`method_not_allowed\` with \`Allow\`, OPTIONS among them. Unknown query parameters, repeated ones and unknown fields of a body are 400 and are named. URLs have at most ${MAX_URL_CHARACTERS} characters, bodies at most 1 MiB (decompressed; gzip, deflate and br are read).`;

/** Returns the contract as an OpenAPI 3.1 document, with the limits of this service. */
export function openApiDocument(limits: RequestLimits): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Capstan',
      version: packageVersion(),
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(ROUTES),
    components: {
      schemas: componentSchemas(ROUTES, limits),
      headers: RESPONSE_HEADERS,
      responses: {
        NotFound: failureAnswer(['not_found']),
        MethodNotAllowed: failureAnswer(['method_not_allowed']),
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The API key, when the service has one.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The same key; one of both is enough.',
        },
      },
    },
  };
}
