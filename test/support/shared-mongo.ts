import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { listening } from '../egress/listening.ts';
import type { MongoServer } from './mongo.ts';
import { mongoSocket } from './one-mongo.ts';

/** Pause before another attempt to listen on a port in use. */
const PORT_TAKEN_MS = 100;

/** Time limit for the start of a server that has ended. */
const RESTART_MS = 120_000;

let suites = 0;

/**
 * Returns the URL of the server that the test files of the run share. Each call returns another beginning of the names
 * of databases, and removes the databases of earlier suites of this process.
 */
export async function sharedMongo(): Promise<string> {
  const url = await text(connect(mongoSocket()));
  if (!URL.canParse(url)) throw new Error(url);
  const own = `suite-${process.pid}-`;
  await removeDatabases(url, own);
  suites += 1;
  return `${url}${own}${suites}-`;
}

async function removeDatabases(url: string, prefix: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: RESTART_MS });
  try {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(prefix)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}

/**
 * Gives a suite its own address of the shared server, which it may stop: connections end and new ones are refused.
 * Starts no server, which takes about 6 s of CPU under a compatibility layer.
 */
export async function relayedMongo(): Promise<MongoServer> {
  const { hostname, port, pathname } = new URL(await sharedMongo());
  const open = (ownPort?: number) =>
    listening(
      createServer((client) => {
        const server = connect({ host: hostname, port: Number(port) });
        client.pipe(server).pipe(client);
        server.on('error', () => client.destroy());
        client.on('close', () => server.destroy());
        server.on('close', () => client.destroy());
      }),
      '127.0.0.1',
      ownPort,
    );
  let relay = await open();
  const stop = async () => {
    await relay[Symbol.asyncDispose]();
  };
  return {
    url: `mongodb://127.0.0.1:${relay.port}${pathname}`,
    stop,
    start: async () => {
      // A connection of another process may use the port for a moment.
      for (let isOpen = false; !isOpen; ) {
        try {
          relay = await open(relay.port);
          isOpen = true;
        } catch (error) {
          if (!String(error).includes('EADDRINUSE')) throw error;
          await delay(PORT_TAKEN_MS);
        }
      }
    },
    remove: stop,
  };
}
