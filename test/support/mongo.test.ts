import { MongoClient } from 'mongodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMongo, whyNoMongo } from './mongo.ts';

const whyNot = await whyNoMongo();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`the MongoDB server of a suite${reason}`, () => {
  it('starts again with its data after a crash', async () => {
    const server = await startMongo();
    onTestFinished(() => server.remove());
    const client = new MongoClient(server.url, { serverSelectionTimeoutMS: 60_000 });
    onTestFinished(() => client.close());
    const documents = client.db('crash').collection<{ _id: number }>('documents');
    await documents.insertOne({ _id: 1 }, { writeConcern: { w: 1, journal: true } });

    const { pid } = server;
    if (pid === undefined) throw new Error('the server has no process');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => server.pid, { timeout: 60_000 }).not.toBe(pid);
    expect(await documents.findOne({ _id: 1 })).toEqual({ _id: 1 });
  }, 120_000);
});
