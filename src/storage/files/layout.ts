import { join } from 'node:path';
import { timeOfId } from '../records/ids.ts';

/*
 * The data directory. Every name comes from an id or from a process; none from a request.
 *
 *   captures/<yyyymmdd>/<hhmm>/<id>/   record.json  image.<png|jpg|webp|pdf>  page.html   appears whole or not at all;
 *                                                                               a failed one has only its record
 *   workspaces/<process>/              lock  staging/  outbox/<id>.waiting          one for each running process
 *   thumbnails/<id>/                   320x-q80.webp ...                             may be removed at any time
 *   events/<name>                      events of a cluster that wait for NATS
 *   store.json                         id of the store; its absence tells an empty mount from this directory
 *   owner.lock                         held, with artifacts in GridFS, by the one process that uses the directory
 *   retention.lock                     held by the one process that removes what is too old or too much
 */

export const RECORD_FILE = 'record.json';

export function capturesDirectory(dataDir: string): string {
  return join(dataDir, 'captures');
}

export function workspacesDirectory(dataDir: string): string {
  return join(dataDir, 'workspaces');
}

export function thumbnailsDirectory(dataDir: string): string {
  return join(dataDir, 'thumbnails');
}

export function thumbnailsOf(dataDir: string, id: number): string {
  return join(thumbnailsDirectory(dataDir), String(id));
}

/** Returns the time of an id as `yyyymmdd` and `hhmm`, in UTC. */
export function timeNames(id: number): { readonly day: string; readonly minute: string } {
  const iso = timeOfId(id).toISOString();
  return { day: iso.slice(0, 10).replaceAll('-', ''), minute: iso.slice(11, 16).replace(':', '') };
}

export function minuteDirectory(dataDir: string, day: string, minute: string): string {
  return join(capturesDirectory(dataDir), day, minute);
}

export function captureDirectory(dataDir: string, id: number): string {
  const { day, minute } = timeNames(id);
  return join(minuteDirectory(dataDir, day, minute), String(id));
}

/**
 * The directories whose names lead to a capture. All are synced before the capture is answered: another capture, or
 * another process, may have created one of them and not synced it yet.
 */
export function directoriesAbove(dataDir: string, id: number): readonly string[] {
  const { day, minute } = timeNames(id);
  const captures = capturesDirectory(dataDir);
  return [minuteDirectory(dataDir, day, minute), join(captures, day), captures];
}

export function eventOutboxDirectory(dataDir: string): string {
  return join(dataDir, 'events');
}

/** The event log of a process whose records are in MongoDB. */
export function eventsFile(dataDir: string): string {
  return join(dataDir, 'events.db');
}

export function storeFile(dataDir: string): string {
  return join(dataDir, 'store.json');
}

export function ownerLock(dataDir: string): string {
  return join(dataDir, 'owner.lock');
}

export function retentionLock(dataDir: string): string {
  return join(dataDir, 'retention.lock');
}
