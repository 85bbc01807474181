import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoMemoryServer } from 'mongodb-memory-server-core';

/** A busy machine, or one that runs the server through a compatibility layer, takes its time. */
const LAUNCH_MS = 60_000;

/** A real MongoDB of its own for a suite. */
export interface MongoServer {
  /** `mongodb://127.0.0.1:<port>/` */
  readonly url: string;
  /** Ends the server; its data stays. */
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

/**
 * Why no MongoDB can be had here, or undefined when one can: MONGOMS_SYSTEM_BINARY names its server. With CI=true that
 * is a failure, not a reason to skip.
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

/** Databases on one server are apart: a suite can have its own by the name it puts behind the URL. */
export async function startMongo(): Promise<MongoServer> {
  const dbPath = await mkdtemp(join(tmpdir(), 'capstan-mongo-'));
  let running = await launch({ dbPath });
  const { port } = running.instanceInfo ?? {};
  return {
    url: running.getUri(),
    stop: async () => {
      await running.stop({ doCleanup: false });
    },
    // Anew, not running.start(): its launcher would take the late word of the ended process for the new one's end.
    start: async () => {
      running = await launch({ dbPath, ...(port !== undefined && { port }) });
    },
    remove: async () => {
      await running.stop({ doCleanup: false });
      await rm(dbPath, { recursive: true, force: true });
    },
  };
}

function launch(where: { readonly dbPath: string; readonly port?: number }): Promise<MongoMemoryServer> {
  return MongoMemoryServer.create({
    // No check by its version: the binary is the one that was asked for.
    binary: { checkMD5: false },
    instance: { ip: '127.0.0.1', storageEngine: 'wiredTiger', launchTimeout: LAUNCH_MS, ...where },
  });
}
