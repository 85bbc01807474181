import { call } from './client.ts';

/* Captures that are deleted leave the lists of all tabs. */

const channel = new BroadcastChannel('capstan-removed');
const removed = new Set<number>();
const listeners = new Set<(id: number) => void>();

channel.addEventListener('message', ({ data }) => tell(Number(data)));

/** Deletes a capture. Rejects as `call` does. */
export async function removeCapture(id: number): Promise<void> {
  await call(`/screenshot/${id}`, { method: 'DELETE' });
  tell(id);
  channel.postMessage(id);
}

/** Calls the listener for each capture that is deleted in a tab. Returns a function that ends this. */
export function onRemoved(listener: (id: number) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether a capture was deleted since this tab was opened. */
export function isRemoved(id: number): boolean {
  return removed.has(id);
}

function tell(id: number): void {
  removed.add(id);
  for (const listener of listeners) listener(id);
}
