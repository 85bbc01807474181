import type { z } from 'zod';
import type { SentResult } from '../capture/artifacts/artifact-paths.ts';
import type { View } from '../capture/artifacts/artifacts.ts';
import type { Immutable } from '../capture/basics/immutable.ts';
import type { ComparisonSchema } from '../capture/comparison/comparison.ts';
import type { Stability } from '../capture/comparison/stability.ts';
import type { FailureCode } from '../capture/errors.ts';
import type { CapstanEvent } from '../capture/events.ts';
import type { FieldProblem } from '../capture/failure-details.ts';
import type { FeedAnswer, FeedSource } from '../capture/finding/feed.ts';
import type { MarksChange as ApiMarksChange } from '../capture/finding/marks.ts';
import type { ResultConditions as ApiConditions } from '../capture/finding/result-conditions.ts';
import type { SharedLinkAnswer, ShareRequestSchema } from '../capture/finding/shared-link.ts';
import type { ScanBody, ScreenshotRequest, WatchBody } from '../capture/request.ts';
import type { DetailedResult, Result } from '../capture/result/result.ts';
import type { Verdict } from '../capture/result/verdict.ts';
import type {
  DeadLetter as ApiDeadLetter,
  ReceiverTest as ApiReceiverTest,
  NewReceiverSchema,
  ReceiverAnswer,
} from '../capture/work/receiver.ts';
import type { ListedWatch, Watch, WatchRun, WatchValues } from '../capture/work/watch.ts';
import type { GroupedBy, GroupsAnswer } from '../http/answer/group-schemas.ts';
import type { QueryAnswer } from '../http/answer/query-schemas.ts';
import type { BatchLine, JobAnswer, MarkedSchema, ScanAnswer } from '../http/answer/schemas.ts';

/*
 * The types of requests and answers are those that the service checks and sends, so a change of the API that the client
 * does not know fails to compile.
 */

export type CaptureRequest = Immutable<ScreenshotRequest>;
export type CaptureResult = SentResult<Result>;
export type DetailedCaptureResult = SentResult<DetailedResult>;
export type SimilarResult = CaptureResult & { readonly distance: number };
/** Groups of results that have something in common. */
export type Groups = GroupsAnswer;
export type Job = JobAnswer;
/** A scan that was accepted: a job, and the report on its list. */
export type Scan = ScanAnswer;
/** How the targets of a list are captured. */
export type ScanSettings = Immutable<Omit<ScanBody, 'targets'>>;
export type Query = QueryAnswer;
/** Options of the captures, how often they are made, and what is compared. */
export type WatchRequest = Immutable<WatchBody>;
/** A change of labels, note and hold. */
export type MarksChange = ApiMarksChange;
export type MarkedCaptures = Immutable<z.output<typeof MarkedSchema>>;
export type ShareRequest = Immutable<z.input<typeof ShareRequestSchema>>;
export type SharedLink = SharedLinkAnswer;
/** Source of a feed: one of a watch, a label, a scan and conditions. */
export type FeedRequest = Immutable<Omit<FeedSource, 'search'> & { readonly search?: ResultConditions }>;
export type Feed = FeedAnswer;
export type NewReceiver = Immutable<z.input<typeof NewReceiverSchema>>;
export type Receiver = ReceiverAnswer;
export type ReceiverTest = ApiReceiverTest;
export type DeadLetter = ApiDeadLetter;
export type Comparison = Immutable<z.output<typeof ComparisonSchema>>;
export type {
  BatchLine,
  CapstanEvent,
  FailureCode,
  FieldProblem,
  GroupedBy,
  ListedWatch,
  Stability,
  View,
  Watch,
  WatchRun,
  WatchValues,
};

/** Conditions of the watches that are listed, and how many of their newest runs are listed with each. */
export interface WatchConditions {
  readonly label?: string;
  /** At most 50. @default 0 */
  readonly recent?: number;
}

/** Conditions of a list of results; a result meets all that are given. */
export type ResultConditions = Pick<KnownConditions, keyof ApiConditions | 'url' | 'host'>;

interface KnownConditions {
  /** Results of this URL, or of hosts that begin with this value. One of them. */
  readonly url?: string;
  readonly host?: string;
  /** HTTP status of the target: `404`, or `4xx` for a class. */
  readonly status?: string;
  readonly outcome?: 'stored' | 'failed' | 'timed_out';
  readonly verdict?: Verdict['name'];
  /** Earliest and latest time, in ISO 8601. */
  readonly from?: string;
  readonly to?: string;
  /** Words that are all in the title or the URL. */
  readonly text?: string;
  /** Words that the page shows, `"a phrase"`, `-without`, `ferr*`. */
  readonly words?: string;
  /** Capture options that were requested. */
  readonly option?: string;
  /** Id of the scan that the captures belong to. */
  readonly scan?: string;
  /** Labels, separated by commas: captures have all of them. */
  readonly label?: string;
  /** `true`: captures that are kept by a hold. */
  readonly held?: 'true';
  /** IP address that the target answered from, or a network such as `10.1.0.0/16`. */
  readonly address?: string;
  /** Products of the headers `server` and `x-powered-by`, with or without a version. */
  readonly server?: string;
  readonly poweredBy?: string;
  /** Whether the document came with these headers. */
  readonly contentSecurityPolicy?: 'true' | 'false';
  readonly hsts?: 'true' | 'false';
  /** SHA-256 of the certificate, or a host name that it is for. */
  readonly certificate?: string;
  readonly certificateIssuer?: string;
  /** In ISO 8601. */
  readonly certificateExpiresBefore?: string;
  /** Hash of the favicon, or its SHA-256. */
  readonly favicon?: string;
  /** A name in the chain of aliases, or a parent domain of one. */
  readonly cname?: string;
  /** Software of the page, with or without a version, separated by commas. */
  readonly technology?: string;
}

export interface EventFilter extends EventConditions {
  /** Types or groups, such as `capture.*`. */
  readonly types?: readonly string[];
  /** Where to go on: the id of the last event that was seen; 0 is the beginning of the log. @default now */
  readonly lastEventId?: number | undefined;
}

/** Conditions of events; an event meets all that are given. */
interface EventConditions extends Omit<ResultConditions, 'url' | 'from' | 'to'> {
  readonly batch?: string;
}

/** The filter of a standing query. */
export interface QueryFilter extends EventConditions {
  /** Types or groups, such as `capture.*`. */
  readonly type?: readonly string[];
  /** Captures that look like this one: at most `distance` bits of 64 differ. */
  readonly similar?: { readonly to: number; readonly distance?: number };
  /** Events of watches whose image changed by more than this share of its pixels. */
  readonly changedMoreThan?: number;
}

/** An event with its id. `gap`: events are missing, and `text` says why. */
export type ReceivedEvent =
  | { readonly id: number; readonly event: CapstanEvent }
  | { readonly gap: { readonly reason: string; readonly text: string } };

export interface CallOptions {
  readonly signal?: AbortSignal;
}
