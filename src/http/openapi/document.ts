import { MAX_URL_CHARACTERS, type RequestLimits } from '../schemas/requests.ts';
import { componentSchemas, type JsonObject } from './components.ts';
import { PATHS } from './paths.ts';
import { COMPONENT_HEADERS, failureResponse } from './responses.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  readonly security: readonly JsonObject[];
  readonly tags: readonly JsonObject[];
  readonly paths: JsonObject;
  readonly components: JsonObject;
}

/** The version of the contract, not of the program. */
const CONTRACT_VERSION = '1.0.0';

const DESCRIPTION = `Captures web pages (screenshot and HTML copy) on demand, keeps what it saw, and answers later questions about it.

Every JSON answer but the bare arrays is an envelope: \`success\`, \`message\`, \`data\`, \`error\` (for people), \`code\` (for programs, its meaning never changes) and \`request_id\`. Every answer carries \`X-Request-Id\`.

With a key configured, everything but \`GET\` and \`HEAD\` of \`/livez\`, \`/readyz\` and \`/openapi.json\` is answered 401 without it, unknown paths and methods included. An unknown path is 404 \`not_found\`; a known one with a method that it does not have is 405 \`method_not_allowed\` with \`Allow\`, OPTIONS among them. Unknown query parameters are ignored; one that is known and given twice is 400, and so is an unknown field of a body. URLs have at most ${MAX_URL_CHARACTERS} characters, bodies at most 1 MiB (decompressed; gzip, deflate and br are read).`;

/** The whole contract as an OpenAPI 3.1 document, with the limits that this service is configured with. */
export function openApiDocument(limits: RequestLimits): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Capstan',
      version: CONTRACT_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [
      { name: 'capture', description: 'Captures and what they left on the disk.' },
      { name: 'results', description: 'The records of the database.' },
      { name: 'operations', description: 'For those who run the service.' },
    ],
    paths: PATHS,
    components: {
      schemas: componentSchemas(limits),
      headers: COMPONENT_HEADERS,
      responses: {
        NotFound: failureResponse(['not_found']),
        MethodNotAllowed: failureResponse(['method_not_allowed']),
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The API key, when the service has one.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key; either will do.' },
      },
    },
  };
}
