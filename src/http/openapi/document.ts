import { MAX_URL_CHARACTERS, type RequestLimits } from '../../capture/request.ts';
import { packageVersion } from '../../version.ts';
import { TAGS } from '../route.ts';
import { ROUTES } from '../routes/all.ts';
import { componentSchemas } from './components.ts';
import { failureAnswer } from './failures.ts';
import { RESPONSE_HEADERS } from './headers.ts';
import type { JsonObject } from './json-object.ts';
import { pathsOf } from './paths.ts';

interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  readonly security: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly paths: JsonObject;
  readonly components: JsonObject;
}

const DESCRIPTION = `Captures web pages (screenshot and HTML snapshot), stores the captures, and answers queries about them.

**Answers.** A JSON answer is an envelope with \`success\`, \`message\`, \`data\`, \`error\`, \`code\` and \`request_id\`. Only \`POST /batch\` and \`GET /screenshots\` answer bare arrays. When a request fails, \`error\` says what is wrong with it, \`message\` is the general meaning of the code, and \`code\` is for programs: its meaning never changes. Every answer has the header \`X-Request-Id\`.

**API keys.** A service with API keys answers \`401\` to a request without one. The exceptions are \`/session\`, signed links, the web interface, and \`GET\` and \`HEAD\` of \`/\`, \`/livez\`, \`/readyz\`, \`/openapi.json\` and \`/docs\`.

**Bad requests.** An unknown path is \`404 not_found\`. A method that a path does not have is \`405 method_not_allowed\`, with \`Allow\`. Unknown or repeated query parameters, and unknown fields of a body, are \`400\` and are named in the answer. A URL has at most ${MAX_URL_CHARACTERS} characters; a body has at most 1 MiB after decompression (gzip, deflate, br).`;

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
    servers: [{ url: './' }],
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
