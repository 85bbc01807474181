import type { Download, FieldProblem } from './failure-details.ts';
import type { Evidence } from './result/evidence.ts';

// No schemas here: the thread of SQLite, which each start of a service waits for, loads this file.

/**
 * Statuses by the subject of a failure. A failure of the target is a result: it is recorded, and kept for its key of
 * idempotency.
 */
const STATUSES = {
  request: [400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 416, 421, 429],
  target: [422, 502, 504],
  service: [499, 500, 503, 507],
} as const;
type Subject = keyof typeof STATUSES;

/** Whether an answer with this status tells of `subject`. */
export function tellsOf(subject: Subject, status: number): boolean {
  return STATUSES[subject].some((each) => each === status);
}

/**
 * Whether the same request may succeed later; `soon`: by itself, so that the answer has `Retry-After`; `outage`: once
 * an outage of the service ends; batches and jobs wait for that.
 */
type Retry = 'never' | 'later' | 'soon' | 'outage';

interface FailureFacts {
  readonly status: (typeof STATUSES)[Subject][number];
  /** The default message. */
  readonly text: string;
  /** Advice in the documentation: what a caller or an operator can do. */
  readonly help: string;
}

/** All error codes, by when to retry. A code never changes its meaning. */
export const CATALOGUE = {
  ...retried('never', {
    invalid_json: { status: 400, text: 'The body is not valid JSON.', help: 'Fix the body.' },
    invalid_request: {
      status: 400,
      text: 'The request is not valid.',
      help: 'Fix the fields that `data.problems` lists.',
    },
    invalid_id: {
      status: 400,
      text: 'The id must be a positive integer.',
      help: 'Use the `id` of a result.',
    },
    phrase_too_frequent: {
      status: 400,
      text: 'Too many pages show all words of the phrase, in another order.',
      help: 'Add a rarer word, a host or a time range. MongoDB looks for a phrase on about 20,000 pages.',
    },
    unauthorized: {
      status: 401,
      text: 'The API key is missing or wrong.',
      help: 'Send `Authorization: Bearer <key>` or `X-API-Key: <key>`.',
    },
    target_forbidden: {
      status: 403,
      text: 'The target, or a callback or proxy, is not a public address, or is denied by the operator.',
      help: 'Operators can allow private addresses with `--allow-targets`, and receivers with `--allow-webhooks`.',
    },
    key_not_permitted: {
      status: 403,
      text: 'The API key does not permit this.',
      help: 'Use a key with the scope that `error` names. Operators give scopes in `--api-key-file`.',
    },
    link_refused: {
      status: 403,
      text: 'The link is not signed, was changed, or has expired.',
      help: 'Sign it again: `capstan sign`, or [the recipe](http-api.md#signed-links); share the capture again. Operators: links need `--signing-key`.',
    },
    origin_not_allowed: {
      status: 403,
      text: 'The service does not answer pages of this origin.',
      help: 'Operators allow origins with `--cors-origins`.',
    },
    not_found: {
      status: 404,
      text: 'Not found.',
      help: 'Check the path. The capture or job may have been removed.',
    },
    method_not_allowed: {
      status: 405,
      text: 'The path does not accept this method.',
      help: 'Use a method that `Allow` lists.',
    },
    not_acceptable: {
      status: 406,
      text: '`Accept` allows none of the media types of the answer.',
      help: 'Add `application/json`, or the media type of `format`, to `Accept`.',
    },
    already_acknowledged: {
      status: 409,
      text: 'The position lies before the one that was acknowledged last.',
      help: 'Nothing: those events are acknowledged. `GET /queries/{id}` has the position.',
    },
    capture_held: {
      status: 409,
      text: 'The capture is kept by a hold.',
      help: 'Lift the hold first: `PATCH /screenshot/{id}` with `{"hold": false}`, by a key with the scope `admin`.',
    },
    payload_too_large: {
      status: 413,
      text: 'The body is larger than 1 MiB.',
      help: 'Send less, or send lines.',
    },
    unsupported_media_type: {
      status: 415,
      text: 'The body must be application/json.',
      help: 'Set `Content-Type`. Batches also take `application/x-ndjson`.',
    },
    range_not_satisfiable: {
      status: 416,
      text: 'The range is outside the file.',
      help: 'Request a range that `Content-Range` allows.',
    },
    artifact_elsewhere: {
      status: 421,
      text: 'The files of this capture are in the data directory of another process.',
      help: 'Ask the process that made the capture. Operators: let all processes of a database share one data directory, or use `--artifacts gridfs`.',
    },
    host_not_allowed: {
      status: 421,
      text: 'The service does not answer requests for this host.',
      help: 'Start the service with `--allowed-hosts` or `--api-key`.',
    },
    not_a_page: {
      status: 422,
      text: 'The target is a download, or has no content: nothing to capture.',
      help: '`download` has its name, type and size.',
    },
    not_an_image: {
      status: 422,
      text: 'The capture is a PDF, of which no thumbnail can be made, and which cannot be compared.',
      help: 'Request the PDF itself, without `width`, `height`, `format` and `quality`; compare captures of images.',
    },
    comparison_too_large: {
      status: 422,
      text: 'The images are too large to compare.',
      help: 'Capture with `maxHeight`, or `resize` the image: at most 33,554,432 pixels each are compared.',
    },
    no_element_map: {
      status: 422,
      text: 'A capture has no element map, so no elements can be ignored.',
      help: 'Do not set `elementMap: false`. PDFs, and pages that a script blocked, have no element map.',
    },
    selector_not_found: {
      status: 422,
      text: 'The page has no element that matches the selector.',
      help: 'Compare the selector, `clip` or `pdf.pageRanges` with the HTML snapshot.',
    },
    script_failed: {
      status: 422,
      text: 'The script of the request failed in the page.',
      help: '`error` has the exception.',
    },
    action_failed: {
      status: 422,
      text: 'An action could not be performed on the page.',
      help: '`error` names the action and the reason.',
    },
    page_too_large: {
      status: 422,
      text: 'The page needs more memory than one page may use.',
      help: 'Block resources; a retry ends the same way. `error` says whether it was memory, URLs of more than 2 MiB in all, too many messages to the browser, or too many frames for a selector.',
    },
    idempotency_mismatch: {
      status: 422,
      text: 'This Idempotency-Key was used with another body.',
      help: 'Use a new key for a new request.',
    },
    too_many_watches: {
      status: 429,
      text: 'There are too many watches, or they are too large.',
      help: 'Remove watches that are no longer needed: `DELETE /watches/{id}`. `error` has the number or the bytes.',
    },
    too_many_queries: {
      status: 429,
      text: 'There are too many standing queries.',
      help: 'Remove one: `DELETE /queries/{id}`.',
    },
    too_many_shared_links: {
      status: 429,
      text: 'There are too many shared links and feeds.',
      help: 'Revoke what is no longer needed: `DELETE /shares/{id}`, `DELETE /feeds/{id}`.',
    },
    too_many_receivers: {
      status: 429,
      text: 'There are too many receivers.',
      help: 'Remove receivers that are no longer needed: `DELETE /receivers/{name}`.',
    },
    artifact_damaged: {
      status: 500,
      text: 'The file of this capture is incomplete in the artifact store.',
      help: 'Capture the page again. Operators: `capstan db check` lists such files; restore them from a backup.',
    },
    database_not_enabled: {
      status: 503,
      text: 'No database is enabled: start the service with --db-path or --mongo-url.',
      help: 'Operators: configure a database.',
    },
  }),
  ...retried('later', {
    request_timeout: {
      status: 408,
      text: 'The body did not arrive in time.',
      help: 'Send it faster, or as lines.',
    },
    unwanted_status: {
      status: 422,
      text: 'The target answered with a status that `failOnStatus` names.',
      help: '`error` has the status.',
    },
    unwanted_text: {
      status: 422,
      text: 'The page shows a text that `failOnText` names.',
      help: '`error` has the text.',
    },
    cancelled: {
      status: 499,
      text: 'The capture was cancelled.',
      help: 'Its client disconnected, or its job was cancelled.',
    },
    internal: {
      status: 500,
      text: 'An unexpected error in the service.',
      help: 'Report it with the `request_id`; the log has the cause.',
    },
    target_unreachable: {
      status: 502,
      text: 'The target gave no response.',
      help: 'Check the URL. `error` has the reason (DNS, connection, TLS).',
    },
    proxy_failed: {
      status: 502,
      text: 'The proxy given in the request could not reach the target.',
      help: 'Check `proxy.server` and its credentials.',
    },
    page_crashed: {
      status: 502,
      text: 'The page crashed, or its browser ended, twice; the second time it was alone in a browser.',
      help: 'Try a smaller viewport, or block resources.',
    },
    worker_lost: {
      status: 502,
      text: 'Three workers ended without finishing the capture.',
      help: 'The page may be the cause: try a smaller viewport, or block resources. Operators: see their logs.',
    },
    shutting_down: {
      status: 503,
      text: 'The service is shutting down.',
      help: 'Retry at another instance, or later.',
    },
    capture_timeout: {
      status: 504,
      text: 'The deadline passed and nothing could be captured.',
      help: 'Increase `timeoutMs`.',
    },
  }),
  ...retried('soon', {
    idempotency_in_flight: {
      status: 409,
      text: 'The first request with this Idempotency-Key has not been answered yet.',
      help: 'Retry after `Retry-After`.',
    },
    queue_full: {
      status: 429,
      text: 'The queue is full.',
      help: 'Retry after `Retry-After`. `error` says whether the queue is full or the service is overloaded.',
    },
    too_many_subscribers: {
      status: 429,
      text: 'There are too many subscribers to events.',
      help: 'Retry after `Retry-After`, or close a subscription of the same API key. Operators: `--max-subscribers`.',
    },
    too_many_logins: {
      status: 429,
      text: 'There were too many logins.',
      help: 'Retry after `Retry-After`. Requests with an API key need no login.',
    },
    rate_limited: {
      status: 429,
      text: 'The API key has used up its captures of this minute.',
      help: 'Retry after `Retry-After`, or send less: `X-RateLimit-Limit` is the number of captures a minute.',
    },
    database_unavailable: {
      status: 503,
      text: 'The database cannot be reached.',
      help: 'Operators: the log has the cause.',
    },
    artifacts_unavailable: {
      status: 503,
      text: 'The object store cannot be used.',
      help: 'Operators: the log has the cause, and `capstan doctor` tries the object store.',
    },
    artifact_pending: {
      status: 503,
      text: 'The files of this capture wait on disk until the artifact store can be reached.',
      help: 'Retry after `Retry-After`. Operators: `store.outbox` in `/stats` counts the captures that wait.',
    },
  }),
  ...retried('outage', {
    cluster_unavailable: {
      status: 503,
      text: 'The work queue of the cluster (NATS) cannot be reached.',
      help: 'Operators: the log has the cause. Results can be read meanwhile.',
    },
    browser_unavailable: {
      status: 503,
      text: 'No browser could be started.',
      help: 'Operators: `/readyz` and the log have the cause.',
    },
    storage_unavailable: {
      status: 503,
      text: 'The data directory cannot be written.',
      help: 'Operators: the log has the cause, such as `EACCES` or a file system that is not mounted.',
    },
    storage_full: {
      status: 507,
      text: 'The data directory is full.',
      help: 'Operators: free space, or set `--retain-bytes`.',
    },
  }),
};

function retried<Code extends string>(retry: Retry, rows: Readonly<Record<Code, FailureFacts>>) {
  const entries = Object.entries<FailureFacts>(rows).map(([code, facts]) => [code, { ...facts, retry }]);
  return Object.fromEntries(entries) as Record<Code, FailureFacts & { readonly retry: Retry }>;
}

export type FailureCode = keyof typeof CATALOGUE;

/** A failure as a value: `code` for programs, `reason` for people. */
export interface Failure {
  readonly code: FailureCode;
  readonly reason: string;
}

interface CapstanErrorOptions extends ErrorOptions {
  /** Every invalid field of a request, with `invalid_request`. */
  readonly problems?: readonly FieldProblem[];
  /** Time after which to retry, in whole seconds, with `queue_full` and `rate_limited`. */
  readonly retryAfterSeconds?: number | undefined;
  /** The file that the browser downloaded instead of showing a page, with `not_a_page`. */
  readonly download?: Download | undefined;
  /** Evidence recorded before the capture failed. */
  readonly evidence?: Evidence | undefined;
  /** The URL that was fetched last: over `http` when the scheme was assumed and nothing answered over `https`. */
  readonly fetchedUrl?: string | undefined;
  /** The target's HTTP status, when it answered without a page. */
  readonly responseCode?: number | undefined;
}

/** The only error that crosses from one folder to another. Its message is safe to show to a client. */
export class CapstanError extends Error {
  override readonly name = 'CapstanError';
  readonly code: FailureCode;
  readonly problems: readonly FieldProblem[];
  readonly retryAfterSeconds: number | undefined;
  readonly download: Download | undefined;
  readonly evidence: Evidence | undefined;
  readonly fetchedUrl: string | undefined;
  readonly responseCode: number | undefined;

  /** `reason` defaults to the catalogue's text. */
  constructor(code: FailureCode, reason?: string, options: CapstanErrorOptions = {}) {
    super(reason ?? CATALOGUE[code].text, options);
    this.code = code;
    this.problems = options.problems ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.download = options.download;
    this.evidence = options.evidence;
    this.fetchedUrl = options.fetchedUrl;
    this.responseCode = options.responseCode;
  }

  /** Returns an error as it was thrown; any other as the cause of an `internal` one. */
  static from(thrown: unknown): CapstanError {
    return thrown instanceof CapstanError ? thrown : new CapstanError('internal', undefined, { cause: thrown });
  }

  /** Returns the same error with what is known besides. */
  with(known: Pick<CapstanErrorOptions, 'evidence' | 'fetchedUrl' | 'responseCode'>): CapstanError {
    const { code, message, problems, retryAfterSeconds, download, evidence, fetchedUrl, responseCode } = this;
    const own = { problems, retryAfterSeconds, download, evidence, fetchedUrl, responseCode, cause: this };
    return new CapstanError(code, message, { ...own, ...known });
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }

  get retryable(): boolean {
    return CATALOGUE[this.code].retry !== 'never';
  }
}

export function failure(code: FailureCode, reason: string = CATALOGUE[code].text): Failure {
  return { code, reason };
}

/**
 * Converts anything thrown to a failure. Anything but a `CapstanError` becomes `internal` without details, so log the
 * original.
 */
export function toFailure(thrown: unknown): Failure {
  return thrown instanceof CapstanError ? failure(thrown.code, thrown.message) : failure('internal');
}
