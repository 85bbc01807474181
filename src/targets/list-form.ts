import type { ListForm } from '../capture/work/scan.ts';
import { csvList, isCsv } from './csv-list.ts';
import type { Found } from './found.ts';
import { masscanList } from './masscan-list.ts';
import { nmapList } from './nmap-list.ts';
import { plainList } from './plain-list.ts';
import { sitemapList } from './sitemap-list.ts';

/** Beginning of a list in which its form shows. */
const HEAD_CHARACTERS = 64 * 1024;

/** Finds the form of a list, and what the list has: some items at a time, as it is read. */
export async function findTargets(
  list: AsyncGenerator<string, void, undefined>,
): Promise<{ readonly form: ListForm; readonly found: AsyncIterable<readonly Found[]> }> {
  const { head, texts } = await headOf(list);
  const form = formOf(head);
  return { form, found: finderOf(form, head, texts) };
}

function finderOf(form: ListForm, head: string, texts: AsyncIterable<string>): AsyncIterable<readonly Found[]> {
  switch (form) {
    case 'lines':
      return plainList(texts);
    case 'nmap':
      return nmapList(texts);
    case 'masscan':
      return masscanList(texts);
    case 'sitemap':
      return sitemapList(texts);
    case 'csv':
      return csvList(texts, head);
  }
}

/** Returns the form of a list that begins with `head`. */
function formOf(head: string): ListForm {
  if (/^\s*</.test(head)) return /<(?:\w+:)?(?:urlset|sitemapindex)\b/.test(head) ? 'sitemap' : 'nmap';
  // A line may begin with the bracket of an IPv6 address.
  if (/^\s*(?:\[\s*(?:[{\],]|$)|\{)/.test(head)) return 'masscan';
  return isCsv(head) ? 'csv' : 'lines';
}

async function headOf(texts: AsyncGenerator<string, void, undefined>) {
  let head = '';
  let hasEnded = false;
  let failure: { readonly error: unknown } | undefined;
  while (head.length < HEAD_CHARACTERS && !hasEnded) {
    try {
      const step = await texts.next();
      hasEnded = step.done === true;
      head += step.value ?? '';
    } catch (error) {
      hasEnded = true;
      failure = { error };
    }
  }
  async function* all(): AsyncGenerator<string, void, undefined> {
    if (head !== '') yield head;
    // The text before the damage is still read.
    if (failure !== undefined) throw failure.error;
    if (!hasEnded) yield* texts;
  }
  return { head, texts: all() };
}
