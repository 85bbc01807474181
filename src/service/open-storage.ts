import { readRetainDays } from '../config/mod.ts';
import type { Logger } from '../log/log.ts';
import { createStorage, type Storage, type StorageOptions } from '../storage/storage.ts';
import type { StorageConfig } from './service-config.ts';

/** Opens the configured stores, and logs their failures and changes of state. */
export function openStorage(
  config: StorageConfig,
  logger: Logger,
  options: Pick<StorageOptions, 'makesIds' | 'logsEvents' | 'onRecovered'> = {},
): Promise<Storage> {
  return createStorage({
    ...config,
    ...options,
    onState: (state, reason) => {
      if (state === 'up') logger.info('the database is available');
      else logger.error({ reason }, state === 'damaged' ? 'the database is damaged' : 'the database is unavailable');
    },
    onStoreFailure: (failure) => {
      if (failure === undefined) logger.info('captures can be stored again');
      else logger.error({ code: failure.code, err: failure.cause }, `captures cannot be stored: ${failure.message}`);
    },
    onWarning: (text) => logger.warn(text),
    onProblem: (problem) => logger.error({ err: problem }, 'storage reported a problem'),
    retain: { ...readRetainDays(config.retainDays), bytes: config.retainBytes },
    onRetained: (removed) => logger.info(removed, 'retention removed captures'),
    onHeld: (bytes) => {
      if (bytes > 0)
        logger.warn({ bytes }, 'more bytes than --retain-bytes are kept by holds: lift holds, or raise the limit');
      else logger.info('holds keep no more bytes than --retain-bytes');
    },
    onPostponed: (captures) =>
      logger.warn(
        { captures },
        'more captures are too old than --retain-days removes at once: the rest follows in an hour, unless the clock or the option is wrong and is corrected before',
      ),
  });
}
