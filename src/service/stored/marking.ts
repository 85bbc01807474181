import { ofKey } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { CapstanEvent } from '../../capture/events.ts';
import { changedMarks, MAX_LABELS, type Marks } from '../../capture/finding/marks.ts';
import type { Result } from '../../capture/result/result.ts';
import { refusal } from '../../capture/validate.ts';
import type { CaptureService } from '../capture-service.ts';
import type { OpenedParts } from '../opened-parts.ts';

/** Changes the marks of captures, and tells what has changed as events. */
export function createMarking({ storage, events }: Pick<OpenedParts, 'storage' | 'events'>): CaptureService['mark'] {
  const { captureStore } = storage;
  return async (id, change, { api_key_name: by = '' } = {}) => {
    if (await captureStore.isElsewhere(id)) throw new CapstanError('artifact_elsewhere');
    const at = new Date().toISOString();
    const marked = await captureStore.mark(id, (marks) => {
      const changed = changedMarks(marks, change, { at, by });
      if (changed !== undefined) return changed;
      const path = change.addLabels === undefined ? 'labels' : 'addLabels';
      throw refusal([{ path, message: `must leave the capture with at most ${MAX_LABELS} labels` }]);
    });
    if (marked === undefined) return undefined;
    for (const event of eventsOf(marked.before, marked.record, { at, by })) events.emit(event);
    return marked.record;
  };
}

function eventsOf(
  before: Marks,
  result: Result,
  made: { readonly at: string; readonly by: string },
): readonly CapstanEvent[] {
  const { id, url, host, labels, note, hold, api_key_name: key } = result;
  const withLabels = labels.length === 0 ? {} : { labels };
  const about = { ...made, id, url, host, batch: null, ...withLabels, ...ofKey(key), result };
  const isRelabelled = JSON.stringify([before.labels, before.note]) !== JSON.stringify([labels, note]);
  return [
    ...(isRelabelled ? [{ type: 'capture.marked', ...about } as const] : []),
    ...(before.hold === null && hold !== null ? [{ type: 'capture.held', ...about } as const] : []),
    ...(before.hold !== null && hold === null ? [{ type: 'capture.released', ...about } as const] : []),
  ];
}
