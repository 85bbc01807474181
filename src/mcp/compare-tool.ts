import { z } from 'zod';
import { count, id } from '../capture/basics/values.ts';
import {
  ComparisonSchema,
  IGNORE_DESCRIPTION,
  MAX_IGNORED,
  TextDifferenceSchema,
} from '../capture/comparison/comparison.ts';
import { READS, tool } from './tool.ts';
import { marked, plainLine, plainText } from './untrusted.ts';

/** Says what differs between two captures. Words of the pages are marked. */
export const compareTool = tool('compare', {
  title: 'Compare two captures',
  description:
    'Says which regions of the image of one capture were inserted, removed, moved or edited in that of another, in pixels, the share of pixels that changed, and which lines of text differ when both have the output text.',
  annotations: READS,
  inputSchema: z.strictObject({
    a: id.meta({ description: 'Id of the capture before.' }),
    b: id.meta({ description: 'Id of the capture after.' }),
    ignore: z.array(z.string()).max(MAX_IGNORED).optional().meta({ description: IGNORE_DESCRIPTION }),
  }),
  outputSchema: ComparisonSchema.omit({ title: true, text: true, links: true, elements: true }).extend({
    text: TextDifferenceSchema.omit({ unified: true }).nullable().meta({
      description: 'Lines that differ; null when one of the captures lacks the output text.',
    }),
    links: z.strictObject({ added: count, removed: count }).nullable().meta({
      description: 'Links that differ; null when one of the captures lacks the output links.',
    }),
    elements: count.nullable().meta({ description: 'Changed elements; null when a capture has no element map.' }),
    untrusted: z.strictObject({ titles: z.array(z.string()), diff: z.string(), elements: z.array(z.string()) }).meta({
      description:
        'Written by the pages: titles before and after, if they differ, a unified diff of the text, and the changed elements.',
    }),
  }),
  run: async (api, { a, b, ignore = [] }, signal) => {
    const query = new URLSearchParams({ a: `${a}`, b: `${b}` });
    for (const each of ignore) query.append('ignore', each);
    const data = await api.read(ComparisonSchema, `/compare?${query}`, { signal });
    const { title, text, links, elements, ...known } = data;
    const facts = {
      ...known,
      text: text && { added: text.added, removed: text.removed, truncated: text.truncated },
      links: links && { added: links.added.length, removed: links.removed.length },
      elements: elements === null ? null : elements.changes.length,
    };
    const titles = title === null ? [] : [plainLine(title.from, 'title'), plainLine(title.to, 'title')];
    const diff = plainText(text?.unified ?? '');
    const named = (elements?.changes ?? []).map(({ kind, selector }) => plainLine(`${kind} ${selector}`, 'title'));
    const words = [...titles, ...named, diff].some((line) => line !== '')
      ? `\n${marked([...titles, ...named, diff].join('\n'))}`
      : '';
    return {
      structuredContent: { ...facts, untrusted: { titles, diff, elements: named } },
      content: [{ type: 'text', text: `${JSON.stringify(facts)}${words}` }],
    };
  },
});
