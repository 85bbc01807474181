import { json } from 'node:stream/consumers';
import type { Result } from '../capture/result/result.ts';
import {
  conditionsIn,
  MAX_TEXT_OF_RUN,
  type ReadValue,
  ReadValueSchema,
  type ReadValues,
  type WatchedValues,
  type When,
} from '../capture/work/watch-values.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';

const MISSING: ReadValue = { value: null, text: null };

/**
 * Returns the values of a watch that its capture has read. When the page or the extraction was cut, leaves out missing
 * values and counts, which may be wrong.
 */
export async function readValues(
  { id, extract, partial, outputs }: Pick<Result, 'id' | 'extract' | 'partial' | 'outputs'>,
  values: WatchedValues,
  artifacts: Pick<ArtifactStore, 'open'>,
): Promise<ReadValues> {
  const all: Readonly<Record<string, unknown>> = extract ?? (await extractedIn(id, artifacts));
  const isCut = partial || outputs.some((output) => output.name === 'extract' && output.partial);
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, { type }]) => {
      const read = readValue(all[name]);
      const isRead = Object.hasOwn(all, name) && !(isCut && (isMissing(read) || type === 'count'));
      return isRead ? [[name, read]] : [];
    }),
  );
}

/** Larger values are in the file alone. */
async function extractedIn(id: number, artifacts: Pick<ArtifactStore, 'open'>): Promise<Record<string, unknown>> {
  const file = await artifacts.open(id, 'extract', { undelivered: true });
  if (file === undefined) return {};
  const read: unknown = await json(file.stream());
  return typeof read === 'object' && read !== null ? { ...read } : {};
}

function readValue(found: unknown): ReadValue {
  if (typeof found === 'number') return { value: found, text: String(found) };
  if (typeof found === 'string') {
    const text = found.slice(0, MAX_TEXT_OF_RUN).toWellFormed();
    return { value: text, text };
  }
  const { data } = ReadValueSchema.safeParse(found);
  return data === undefined ? MISSING : { ...data, text: data.text?.slice(0, MAX_TEXT_OF_RUN).toWellFormed() ?? null };
}

/**
 * Whether the page has none of the values, and no condition waits for that: it is another page than before. There a
 * count is 0, too. A page with nothing but counts has them.
 */
export function lacksValues(read: ReadValues, when: When | undefined): boolean {
  const isWanted = when !== undefined && conditionsIn(when).some(({ missing }) => missing === true);
  const all = Object.values(read);
  return !isWanted && all.some(isMissing) && all.every((each) => isMissing(each) || each.value === 0);
}

const isMissing = ({ text }: ReadValue): boolean => text === null;
