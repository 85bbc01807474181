import { access, constants, rm } from 'node:fs/promises';
import { MongoMemoryServer } from 'mongodb-memory-server';
import { MongoInstanceEvents } from 'mongodb-memory-server-core/lib/util/MongoInstance.js';
import { makeDirectory } from './temporary-directory.ts';

/** Time limit for a start, long enough for a busy machine and for a server that runs through a compatibility layer. */
const LAUNCH_MS = 60_000;

const MAX_LAUNCHES = 5;

/** How the launcher reports MongoDB's exit code for a port in use. */
const PORT_TAKEN = 'code "48"';

/** A real MongoDB server for one suite. */
export interface MongoServer {
  /** `mongodb://127.0.0.1:<port>/` */
  readonly url: string;
  /** Stops the server; its data stays. */
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/**
 * Returns the reason why MongoDB cannot run here, or undefined when it can: MONGOMS_SYSTEM_BINARY names the server.
 * With CI=true a missing server is a failure, not a reason to skip.
 */
export async function whyNoMongo(): Promise<string | undefined> {
  const binary = process.env.MONGOMS_SYSTEM_BINARY;
  const reason =
    binary === undefined
      ? 'MONGOMS_SYSTEM_BINARY names no MongoDB server'
      : await access(binary, constants.X_OK).then(
          () => undefined,
          () => `MONGOMS_SYSTEM_BINARY is ${binary}, which cannot be run`,
        );
  if (reason !== undefined && process.env.CI === 'true') throw new Error(`no MongoDB for the tests: ${reason}`);
  return reason;
}

/**
 * Databases on one server are independent: a suite gets its own by the name that it appends to the URL. A server that
 * crashes is started again, as an operator's supervisor would do, and standard error says so.
 */
export async function startMongo(): Promise<MongoServer> {
  const dbPath = await makeDirectory();
  let isWanted = true;
  let restarting: Promise<void> | undefined;
  let running = await launch({ dbPath });
  const { port } = running.instanceInfo ?? {};

  // A new instance and not running.start(): its launcher would take the old process's late close event for the new
  // one's.
  const start = async (): Promise<void> => {
    running = await launch({ dbPath, ...(port !== undefined && { port }) });
    restartAfterCrash();
  };
  const restartAfterCrash = (): void => {
    running.instanceInfo?.instance.once(MongoInstanceEvents.instanceClosed, (code, signal) => {
      if (!isWanted) return;
      process.stderr.write(`MongoDB ended by itself (${signal ?? code}) and is started again\n`);
      restarting = start().catch((error) => {
        process.stderr.write(`MongoDB was not started again: ${error}\n`);
      });
    });
  };
  const stop = async (): Promise<void> => {
    isWanted = false;
    await restarting;
    await running.stop({ doCleanup: false });
  };

  restartAfterCrash();
  return {
    url: running.getUri(),
    stop,
    start: async () => {
      isWanted = true;
      await start();
    },
    remove: async () => {
      await stop();
      await rm(dbPath, { recursive: true, force: true });
    },
  };
}

/**
 * Without `port`, one that is free now; when another program takes it before the server does, the server ends and is
 * started with another one.
 */
async function launch(where: { readonly dbPath: string; readonly port?: number }): Promise<MongoMemoryServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await MongoMemoryServer.create({
        // No version check: the named binary is used as it is.
        binary: { checkMD5: false },
        instance: { ip: '127.0.0.1', storageEngine: 'wiredTiger', launchTimeout: LAUNCH_MS, ...where },
      });
    } catch (error) {
      if (attempt === MAX_LAUNCHES || !String(error).includes(PORT_TAKEN)) throw error;
    }
  }
}
