import { z } from 'zod';
import { answer } from '../answer/envelope.ts';
import { envelope } from '../openapi/content.ts';
import { integerText } from '../request/parameters.ts';
import { route } from '../route.ts';

const MAX_SUGGESTED = 50;
const DEFAULT_SUGGESTED = 20;
const LIMIT = `must be an integer from 1 to ${MAX_SUGGESTED}`;
const MAX_CHARACTERS = 64;

export const getLabels = route({
  method: 'GET',
  path: '/labels',
  operationId: 'suggestLabels',
  summary: 'Labels of captures that contain a text, to complete what a person types.',
  description:
    'Of the 1000 newest labels of an API key, or the 5000 newest of all keys for administrators, those that captures still have, in alphabetical order.',
  tag: 'results',
  needsDatabase: true,
  parameters: {
    text: z
      .string()
      .max(MAX_CHARACTERS, { error: `must have at most ${MAX_CHARACTERS} characters` })
      .optional()
      .meta({ description: 'A part of the labels; case and accents do not matter.' }),
    limit: integerText(z.int().min(1, { error: LIMIT }).max(MAX_SUGGESTED, { error: LIMIT }), LIMIT)
      .optional()
      .meta({ description: 'Maximum number of labels.', default: DEFAULT_SUGGESTED }),
  },
  answers: { 200: { description: 'The labels.', content: envelope('LabelList', z.array(z.string())) } },
  handle: async (ctx, { text = '', limit = DEFAULT_SUGGESTED }, { service }) =>
    answer(ctx, await service.suggestLabels(text, limit)),
});
