import type { DatabasePlaces, S3_OPTIONS } from '../capture/artifacts.ts';
import type { Config } from '../config/mod.ts';

/*
 * The options that each part of the service needs. The public type declarations of the package reach this file, so it
 * imports nothing from the parts.
 */

export type BrowsersConfig = Pick<
  Config,
  'maxConcurrent' | 'browserPath' | 'sandbox' | 'browserPriority' | 'honestUserAgent' | 'retireAfter' | 'indexWords'
>;

export type IpFactsConfig = Pick<Config, 'ipinfo' | 'ipinfoUrl' | 'ipinfoKey' | 'ipinfoRate'>;

export type CapturingConfig = BrowsersConfig &
  IpFactsConfig &
  Pick<
    Config,
    | 'role'
    | 'technologyRules'
    | 'maxDials'
    | 'allowTargets'
    | 'denyTargets'
    | 'nameServers'
    | 'maxMemoryMb'
    | 'minFreeMemory'
    | 'maxLoopDelayMs'
  >;

export type StorageConfig = Pick<
  Config,
  | keyof DatabasePlaces
  | 'dataDir'
  | 'artifacts'
  | (typeof S3_OPTIONS)[number]
  | 'requireStore'
  | 'retainDays'
  | 'retainBytes'
  | 'thumbnailBytes'
>;

export type ClusterConfig = Pick<
  Config,
  | 'natsUrl'
  | 'natsCreds'
  | 'natsTlsCa'
  | 'natsTlsCert'
  | 'natsTlsKey'
  | 'clusterName'
  | 'role'
  | 'clusterMaxConcurrent'
  | 'maxWaitMs'
  | 'maxQueue'
>;

export type ReceiversConfig = Pick<
  Config,
  | 'webhook'
  | 'webhookSecret'
  | 'notify'
  | 'alert'
  | 'publicUrl'
  | 'signingKey'
  | 'maxShareDays'
  | 'apiKey'
  | 'namedKeys'
  | 'isolateKeys'
>;

/** The options that take effect while the service runs. */
export type LiveConfig = Pick<
  Config,
  | 'maxConcurrent'
  | 'maxQueue'
  | 'maxDials'
  | 'allowTargets'
  | 'denyTargets'
  | 'allowWebhooks'
  | 'webhookSecret'
  | 'namedKeys'
>;

/** The options that the service needs. The others are the HTTP server's. */
export type ServiceConfig = ClusterConfig &
  StorageConfig &
  CapturingConfig &
  ReceiversConfig &
  Pick<Config, 'allowWebhooks' | 'maxBatchConcurrency'>;
