import type { DatabasePlaces, S3_OPTIONS } from '../capture/artifacts/artifacts.ts';
import type { Config } from './options.ts';

/*
 * The options that each part of the service takes, by their names in the table. The public type declarations of the
 * package reach this file, so it imports nothing from the parts.
 */

/** How a browser process is started. */
export type LaunchConfig = Pick<Config, 'browserPath' | 'sandbox' | 'browserPriority' | 'honestUserAgent'>;

export type BrowsersConfig = LaunchConfig & Pick<Config, 'maxConcurrent' | 'retireAfter' | 'indexWords'>;

export type IpFactsConfig = Pick<Config, 'ipinfo' | 'ipinfoUrl' | 'ipinfoKey' | 'ipinfoRate'>;

/** The bounds of load above which captures are refused. */
export type PressureConfig = Pick<Config, 'maxMemoryMb' | 'minFreeMemory' | 'maxLoopDelayMs'>;

export type CapturingConfig = BrowsersConfig &
  IpFactsConfig &
  PressureConfig &
  Pick<Config, 'role' | 'technologyRules' | 'maxDials' | 'allowTargets' | 'denyTargets' | 'nameServers'>;

export type ObjectStoreConfig = Pick<Config, (typeof S3_OPTIONS)[number]>;

export type StorageConfig = ObjectStoreConfig &
  Pick<
    Config,
    keyof DatabasePlaces | 'dataDir' | 'artifacts' | 'requireStore' | 'retainDays' | 'retainBytes' | 'thumbnailBytes'
  >;

/** The NATS servers, and the credentials for them. */
export type NatsConfig = Pick<Config, 'natsUrl' | 'natsCreds' | 'natsTlsCa' | 'natsTlsCert' | 'natsTlsKey'>;

export type ClusterConfig = NatsConfig & Pick<Config, 'clusterName' | 'role' | 'clusterMaxConcurrent' | 'maxQueue'>;

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

export type HttpConfig = Pick<
  Config,
  | 'host'
  | 'allowedHosts'
  | 'apiKey'
  | 'namedKeys'
  | 'isolateKeys'
  | 'signingKey'
  | 'maxShareDays'
  | 'corsOrigins'
  | 'maxBatch'
  | 'maxSubscribers'
  | 'timeoutMs'
  | 'maxTimeoutMs'
>;

/** The options that the service needs. The others are the HTTP server's. */
export type ServiceConfig = ClusterConfig &
  StorageConfig &
  CapturingConfig &
  ReceiversConfig &
  Pick<Config, 'allowWebhooks' | 'maxBatchConcurrency' | 'maxWaitMs'>;
