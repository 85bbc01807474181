import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { instant } from '../basics/values.ts';
import { listOf } from '../options/fields.ts';

/* Marks are what people add to captures: labels, a note, and a hold. Everything else in a record never changes. */

export const MAX_LABELS = 20;
const MAX_LABEL_CHARACTERS = 64;
/** Of a label as it is written: composing its letters leaves at least a quarter of the characters. */
const MAX_WRITTEN_CHARACTERS = 4 * MAX_LABEL_CHARACTERS;
const MAX_NOTE_CHARACTERS = 2000;

const LABEL = `must be a label: 1 to ${MAX_LABEL_CHARACTERS} characters, without commas and line breaks`;
const NOTE = `must be a text of at most ${MAX_NOTE_CHARACTERS} characters`;

/** A label. The spaces around it do not count. Long texts are refused first: composing takes quadratic time. */
export const label = z
  .string({ error: LABEL })
  .trim()
  .max(MAX_WRITTEN_CHARACTERS, { error: LABEL })
  .transform((text) => text.normalize('NFC'))
  .pipe(
    z
      .string()
      .min(1, { error: LABEL })
      .max(MAX_LABEL_CHARACTERS, { error: LABEL })
      // Lone surrogates would not be the same after they were stored.
      .regex(/^[^,\p{Cc}\p{Cs}]+$/u, { error: LABEL }),
  );

/** A list of labels, each once. */
export const labelList = listOf(label, 'labels', MAX_LABELS).transform((labels) => [...new Set(labels)]);

export const note = z
  .string({ error: NOTE })
  .max(MAX_NOTE_CHARACTERS, { error: NOTE })
  .regex(/^[^\p{Cs}]*$/u, { error: NOTE });

const HoldSchema = z.strictObject({
  at: instant.meta({ description: 'When it was set.' }),
  by: z.string().meta({ description: 'Name of the API key that set it; empty when the key has no name.' }),
});

/** The marks in a record. */
export const markFields = {
  labels: z.array(z.string()).meta({ description: 'Texts to find captures by.' }),
  note: z.string().meta({ description: 'A text for people; empty without one.' }),
  hold: HoldSchema.nullable().meta({
    description: 'Not null: the capture is kept, whatever the limits say, until the hold is lifted.',
  }),
};

const MarksSchema = z.object(markFields);
export type Marks = Immutable<z.output<typeof MarksSchema>>;

export const NO_MARKS: Marks = { labels: [], note: '', hold: null };

/** A change of the marks of a capture. Fields that are left out stay as they are. */
export const MarksChangeSchema = z
  .strictObject({
    labels: labelList.optional().meta({ description: 'Replaces the labels.', examples: [['legal', 'case 17']] }),
    addLabels: labelList.optional().meta({ description: 'Labels to add.' }),
    removeLabels: labelList.optional().meta({ description: 'Labels to remove.' }),
    note: note.optional().meta({ description: 'Replaces the note; an empty text removes it.' }),
    hold: z
      .boolean({ error: 'must be true or false' })
      .optional()
      .meta({ description: 'Sets or lifts the hold. Needs the scope `admin`.' }),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'must have at least one of labels, addLabels, removeLabels, note and hold',
  })
  .refine(({ labels, addLabels, removeLabels }) => labels === undefined || (addLabels ?? removeLabels) === undefined, {
    error: 'cannot be combined with addLabels and removeLabels',
    path: ['labels'],
  });
export type MarksChange = Immutable<z.output<typeof MarksChangeSchema>>;

/**
 * Returns the marks after a change; undefined when there would be too many labels. `hold`: what a new hold says. A hold
 * that is set stays that of the key that set it first.
 */
export function changedMarks(marks: Marks, change: MarksChange, hold: NonNullable<Marks['hold']>): Marks | undefined {
  const removed = change.removeLabels ?? [];
  const kept = (change.labels ?? marks.labels).filter((one) => !removed.includes(one));
  const labels = [...new Set([...kept, ...(change.addLabels ?? [])])];
  if (labels.length > MAX_LABELS) return undefined;
  const held = change.hold === undefined ? marks.hold : change.hold ? (marks.hold ?? hold) : null;
  return { labels, note: change.note ?? marks.note, hold: held };
}
