import { canonicalAddress } from './address.ts';
import { recall, remember } from './cache.ts';
import { toFieldText, toIPInfo, toQuota } from './decode.ts';
import { InvalidArgumentError, InvalidResponseError } from './errors.ts';
import { type CallLimits, execute, type Reply } from './execute.ts';
import { Flights, untilAborted } from './flights.ts';
import { type LookupResult, lookUpInOrder } from './lookup-many.ts';
import type { Field, Format, IPInfo, Quota } from './names.ts';
import { type IpapiOptions, type Settings, toSettings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { buildRequest } from './request.ts';
import { assertAddress, assertField, assertFormat, assertWhole } from './validate.ts';
import { readJson, readRecord } from './wire-formats.ts';

/** Options of one call: the last argument of every operation. */
export interface CallOptions {
  /** Aborts every wait; the operation rejects with the signal's `reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit for each attempt, in milliseconds. @default the client's `timeoutMs` */
  readonly timeoutMs?: number | undefined;
}

export interface LookupManyOptions extends CallOptions {
  /** Maximum number of concurrent lookups. @default 8 */
  readonly concurrency?: number | undefined;
}

/**
 * A client for ipapi.co. Every operation rejects with an `IpapiError`, or with the reason of its signal. Concurrent
 * lookups of the same address share one request.
 */
export class IpapiClient {
  readonly #settings: Settings;
  readonly #records = new Flights<IPInfo>();
  readonly #bodies = new Flights<Uint8Array>();
  readonly #fields = new Flights<string>();

  /** @throws InvalidArgumentError when an option is invalid. */
  constructor(options: IpapiOptions = {}) {
    this.#settings = toSettings(options);
  }

  /** Returns the record of an address. The result is the same for every wire format. */
  async getIPInfo(ip: string, format: Format = 'json', call: CallOptions = {}): Promise<IPInfo> {
    assertAddress(ip, this.#settings.redact);
    assertFormat(format, this.#settings.redact);
    const timeoutMs = this.#timeoutOf(call);
    return this.#records.join(flightKey(ip, format, timeoutMs), call.signal, async (signal) => {
      const { cache } = this.#settings;
      const known = cache === null ? null : await untilAborted(recall(cache, ip), signal);
      if (known !== null) return known;
      const info = readInfo(await this.#ask([ip, format], format, { signal, timeoutMs }), format);
      if (cache !== null) remember(cache, ip, info);
      return info;
    });
  }

  /** Returns the record of an address byte for byte as received, but decompressed. */
  async getIPInfoRaw(ip: string, format: Format, call: CallOptions = {}): Promise<Uint8Array> {
    assertAddress(ip, this.#settings.redact);
    assertFormat(format, this.#settings.redact);
    const timeoutMs = this.#timeoutOf(call);
    const body = await this.#bodies.join(flightKey(ip, format, timeoutMs), call.signal, async (signal) => {
      const reply = await this.#ask([ip, format], format, { signal, timeoutMs });
      return reply.body;
    });
    // Callers that share a request each get a copy of the bytes.
    return new Uint8Array(body);
  }

  /** Returns one field as text: `None` when there is no value, `True` or `False`, without the trailing line feed. */
  async getField(ip: string, field: Field, call: CallOptions = {}): Promise<string> {
    assertAddress(ip, this.#settings.redact);
    assertField(field, this.#settings.redact);
    const timeoutMs = this.#timeoutOf(call);
    return this.#fields.join(flightKey(ip, field, timeoutMs), call.signal, async (signal) =>
      readField(await this.#ask([ip, field], 'field', { signal, timeoutMs })),
    );
  }

  /** Returns the record of the address that the request comes from. Never cached, never shared. */
  async getClientIPInfo(format: Format = 'json', call: CallOptions = {}): Promise<IPInfo> {
    assertFormat(format, this.#settings.redact);
    return readInfo(await this.#ask([format], format, this.#limits(call)), format);
  }

  async getClientIPInfoRaw(format: Format, call: CallOptions = {}): Promise<Uint8Array> {
    assertFormat(format, this.#settings.redact);
    const reply = await this.#ask([format], format, this.#limits(call));
    return new Uint8Array(reply.body);
  }

  async getClientField(field: Field, call: CallOptions = {}): Promise<string> {
    assertField(field, this.#settings.redact);
    return readField(await this.#ask([field], 'field', this.#limits(call)));
  }

  /** Returns the remaining quota of the key. */
  async getQuota(call: CallOptions = {}): Promise<Quota> {
    const reply = await this.#ask(['quota'], 'json', this.#limits(call));
    const record = readJson(textOf(reply));
    const quota = record === null ? null : toQuota(record);
    if (quota === null) throw unreadable(reply, 'a quota');
    return quota;
  }

  /**
   * Looks up many addresses and yields them in input order, each with its `info` or its `error`; an invalid address is
   * an error of that item only. At most `concurrency` addresses are taken from `ips` ahead of the consumer.
   */
  lookupMany(ips: Iterable<string>, options: LookupManyOptions = {}): AsyncGenerator<LookupResult, void, undefined> {
    const { concurrency = 8, signal, timeoutMs } = options;
    assertWhole('concurrency', concurrency, 1);
    if (typeof ips === 'string') throw new InvalidArgumentError('ips must be a list of addresses, not a single text.');
    return lookUpInOrder(ips, concurrency, signal, (ip, stop) =>
      this.getIPInfo(ip, 'json', { signal: stop, timeoutMs }),
    );
  }

  async #ask(segments: readonly string[], kind: Format | 'field', limits: CallLimits): Promise<Reply> {
    const request = buildRequest(this.#settings, segments, kind);
    const reply = await untilAborted(execute(request, this.#settings, limits), limits.signal);
    const refusal = refusalOf(reply, kind, this.#settings);
    if (refusal !== null) throw refusal;
    return reply;
  }

  #limits(call: CallOptions): CallLimits {
    return { signal: call.signal ?? new AbortController().signal, timeoutMs: this.#timeoutOf(call) };
  }

  #timeoutOf({ timeoutMs = this.#settings.timeoutMs }: CallOptions): number {
    assertWhole('timeoutMs', timeoutMs, 1);
    return timeoutMs;
  }
}

/** Lookups with the same key are equal and may share one request. */
function flightKey(ip: string, what: Format | Field, timeoutMs: number): string {
  return `${canonicalAddress(ip)} ${what} ${timeoutMs}`;
}

function textOf(reply: Reply): string {
  return new TextDecoder().decode(reply.body);
}

function readInfo(reply: Reply, format: Format): IPInfo {
  const record = readRecord(format, textOf(reply));
  const info = record === null ? null : toIPInfo(record);
  if (info === null) throw unreadable(reply, `a record in ${format}`);
  return info;
}

function readField(reply: Reply): string {
  return toFieldText(textOf(reply));
}

function unreadable({ status, attempts }: Reply, expected: string): InvalidResponseError {
  return new InvalidResponseError(`The body is not ${expected}.`, { status, attempts });
}
