import { answer } from '../answer/envelope.ts';
import { StartSchema } from '../answer/schemas.ts';
import { envelope } from '../openapi/content.ts';
import { route } from '../route.ts';

/** Tells a person who calls the bare address where to begin. Browsers get the web interface instead. */
export const getStart = route({
  method: 'GET',
  path: '/',
  operationId: 'start',
  summary: 'Where to begin. Browsers are redirected to the web interface.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'Paths to begin with.', content: envelope('Start', StartSchema) } },
  handle: (ctx) =>
    answer(
      ctx,
      {
        capture: 'POST /screenshot, such as: curl --json \'{"url": "https://example.com/"}\' <this address>/screenshot',
        results: 'GET /results',
        interface: 'GET /ui/, in a browser',
        documentation: 'GET /docs, in a browser; GET /openapi.json',
        state: 'GET /readyz',
      },
      'Capstan captures web pages.',
    ),
});
