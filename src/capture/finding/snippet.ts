import { z } from 'zod';
import { count } from '../basics/values.ts';

/** The find of a search by words in a capture: a part of its text, and where in the image its words are. */
export const SnippetSchema = z.strictObject({
  text: z.string().meta({ description: 'Part of what the page showed. The page wrote it.' }),
  highlights: z
    .array(z.strictObject({ start: count, end: count }))
    .meta({ description: 'The words that were found in `text`, in UTF-16 code units.' }),
  boxes: z
    .array(z.strictObject({ x: z.int(), y: z.int(), width: count, height: count }))
    .meta({ description: 'Where they are in the image, in pixels; none for words that it does not show.' }),
});
export type Snippet = z.output<typeof SnippetSchema>;
