import { closeSync, openSync, statSync, write, writeSync } from 'node:fs';

/** Maximum number of bytes that wait while the descriptor accepts no data. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Maximum number of bytes of one write. */
const MAX_WRITE_BYTES = 64 * 1024;
/** Time until a failed write is retried, in milliseconds. */
const RETRY_MS = 100;
/** Cause of a loss without a write error: lines arrived faster than they could be written. */
const SLOW = 'SLOW';
const LINE_BREAK = 0x0a;
/** Readable by the group, for log shippers. */
const FILE_MODE = 0o640;
const NOT_A_FILE = 'it is not a regular file; pipe standard error instead';

/** Lines that were dropped because the descriptor accepted no data. */
export interface Loss {
  readonly lines: number;
  /** Error code of the last failed write, such as `ENOSPC`; `SLOW` when no write failed. */
  readonly cause: string;
}

interface LineWriterOptions {
  /** A descriptor, or the path of a file. Lines are appended to the file, and the file can be reopened. */
  readonly to: number | string;
  /** Called when lines can be written again after some were dropped, with the loss since the last call. */
  readonly onRecovered?: (loss: Loss) => void;
  readonly maxWaitingBytes?: number;
}

/**
 * Writes lines in the background. Never blocks, never throws, and buffers a limited number of bytes: while the
 * descriptor accepts no data (a pipe that is not read, a full disk), further lines are dropped and counted.
 *
 * Replaces pino's own destination. The `flushSync` of that destination, which pino calls for every fatal line and at
 * exit, waits for ever on a full disk and on a pipe that is not read; after EPIPE it drops lines without counting them.
 */
export class LineWriter {
  readonly #path: string | undefined;
  readonly #onRecovered: (loss: Loss) => void;
  readonly #maxWaitingBytes: number;
  #fd: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** The part of the current chunk that is not written yet. */
  #chunk: Buffer = Buffer.alloc(0);
  #isWriting = false;
  /** True when the last byte written does not end a line. */
  #isMidLine = false;
  #retry: NodeJS.Timeout | undefined;
  #nextFd: number | undefined;
  #dropped = 0;
  #announced = 0;
  #cause = SLOW;
  #onIdle: (() => void)[] = [];

  /** @throws The system's error when the file cannot be opened. */
  constructor({ to, onRecovered = () => {}, maxWaitingBytes = MAX_WAITING_BYTES }: LineWriterOptions) {
    this.#path = typeof to === 'string' ? to : undefined;
    this.#fd = typeof to === 'string' ? openLog(to) : to;
    this.#onRecovered = onRecovered;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** Lines dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes a line, which must end with a line break. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > this.#maxWaitingBytes) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    this.#writeNext();
  }

  /**
   * Reopens the file, so that a renamed file is released. Does nothing for a descriptor.
   * @throws The system's error when the file cannot be opened; lines then still go to the old file.
   */
  reopen(): void {
    if (this.#path === undefined) return;
    const fd = openLog(this.#path);
    if (this.#nextFd !== undefined) closeSync(this.#nextFd);
    this.#nextFd = fd;
    if (!this.#isWriting) this.#useNextFile();
  }

  /** Resolves when no line waits, or after `withinMs` milliseconds. */
  flush(withinMs: number): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Tries once to write all waiting lines before the process ends. pino calls this method after a fatal line. */
  flushSync(): void {
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#waitingBytes = this.#chunk.length;
    try {
      // A chunk that is being written must not be written twice: write only the lines that follow it.
      if (!this.#isWriting && this.#chunk.length > 0) writeSync(this.#fd, this.#chunk);
      if (text !== '') writeSync(this.#fd, text);
    } catch {
      // The error cannot be reported anywhere.
    }
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && this.#chunk.length === 0;
  }

  #writeNext(): void {
    if (this.#isWriting || this.#retry !== undefined) return;
    if (this.#chunk.length === 0) this.#chunk = this.#takeChunk();
    if (this.#chunk.length === 0) return;
    this.#isWriting = true;
    write(this.#fd, this.#chunk, (error, bytes) => this.#onWritten(error, bytes));
  }

  #onWritten(error: NodeJS.ErrnoException | null, bytes: number): void {
    this.#isWriting = false;
    if (error === null) {
      this.#waitingBytes -= bytes;
      this.#isMidLine = this.#chunk[bytes - 1] !== LINE_BREAK;
      this.#chunk = this.#chunk.subarray(bytes);
    } else {
      this.#cause = error.code ?? error.message;
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#writeNext();
      }, RETRY_MS).unref();
    }
    this.#useNextFile();
    if (error === null) this.#announceLoss();
    if (this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
    else this.#writeNext();
  }

  #useNextFile(): void {
    if (this.#nextFd === undefined) return;
    closeSync(this.#fd);
    this.#fd = this.#nextFd;
    this.#nextFd = undefined;
    if (!this.#isMidLine) return;
    // The first part of the line is in the old file, so its rest is dropped.
    const rest = this.#chunk.subarray(this.#chunk.indexOf(LINE_BREAK) + 1);
    this.#waitingBytes -= this.#chunk.length - rest.length;
    this.#chunk = rest;
    this.#isMidLine = false;
    this.#dropped += 1;
  }

  #announceLoss(): void {
    const lines = this.#dropped - this.#announced;
    // Reports only when the backlog has shrunk to half, so that a slow reader does not cause a report for each write.
    if (lines === 0 || this.#waitingBytes > this.#maxWaitingBytes / 2) return;
    this.#announced = this.#dropped;
    const cause = this.#cause;
    this.#cause = SLOW;
    this.#onRecovered({ lines, cause });
  }

  #takeChunk(): Buffer {
    let bytes = 0;
    let count = 0;
    for (const line of this.#waiting) {
      if (count > 0 && bytes + line.length > MAX_WRITE_BYTES) break;
      bytes += line.length;
      count += 1;
    }
    return Buffer.from(this.#waiting.splice(0, count).join(''));
  }
}

/** Opens a regular file or a device. A pipe is refused: opening it would wait for a reader. */
function openLog(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile() && !found.isCharacterDevice()) throw new Error(NOT_A_FILE);
  return openSync(path, 'a', FILE_MODE);
}
