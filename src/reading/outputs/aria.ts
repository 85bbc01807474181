import { z } from 'zod';
import { bounded } from '../../capture/basics/bounded.ts';
import type { Output } from '../../capture/result/snapshot.ts';
import { call } from '../../page/asking/page-scripts.ts';
import type { Reading } from '../documents/reading.ts';

/** Maximum number of nodes, including shadow trees and frames: Playwright describes all of them in one message. */
const MAX_NODES = 50_000;
const MAX_CHARACTERS = 2 * 1024 * 1024;
/** Maximum number of characters of the document's text, which the message contains. */
const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024;

/** Describes roles, names and texts of the page as Playwright does. */
export async function describeRoles({ page, ms, ask }: Reading): Promise<Output> {
  const { nodes } = await page.session.send('Memory.getDOMCounters');
  const characters = z.number().parse(await ask(call('readTextLength')));
  if (nodes > MAX_NODES || characters > MAX_TEXT_CHARACTERS) {
    throw new RangeError(`the page has ${nodes} nodes and ${characters} characters`);
  }
  const { interaction } = page;
  if (interaction === undefined) throw new Error('Playwright does not drive the page');
  const snapshot = await withMembers(ask, () => interaction.ariaSnapshot(ms));
  const content = bounded(snapshot, MAX_CHARACTERS);
  return { content: `${content}\n`, partial: content.length < snapshot.length };
}

/** Playwright reads members of nodes, which the names of fields may hide: such names are taken away meanwhile. */
async function withMembers<T>(ask: Reading['ask'], read: () => Promise<T>): Promise<T> {
  await ask(call('freeMembers'));
  try {
    return await read();
  } finally {
    await ask(call('restorePage')).catch(() => undefined);
  }
}
