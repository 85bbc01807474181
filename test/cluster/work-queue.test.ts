import { describe, expect, it, onTestFinished } from 'vitest';
import { Link } from '../../src/cluster/connection.ts';
import { Pulls } from '../../src/cluster/pulls.ts';
import { subjectsOf } from '../../src/cluster/subjects.ts';
import { WorkQueue } from '../../src/cluster/work-queue.ts';
import { startNats, whyNoNats } from '../support/nats.ts';

const whyNot = await whyNoNats();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

const subjects = subjectsOf('queue');
const ticket = (id: number) => subjects.work('node', id);
const place = (id: number) => subjects.place('node', id);

async function openQueue() {
  const nats = await startNats();
  const problems: unknown[] = [];
  const link = new Link({
    connection: { servers: [new URL(nats.url).host] },
    subjects,
    onState: () => {},
    onProblem: (problem) => problems.push(problem),
    onBadMessages: () => {},
  });
  onTestFinished(async () => {
    await link.close();
    await nats.remove();
    expect(problems).toEqual([]);
  });
  const isUp = new Promise<void>((resolve) => link.observe(() => resolve()));
  link.start();
  await isUp;
  const queue = new WorkQueue(link);
  await queue.ensure({ maxConcurrent: 3, maxQueue: 5 });
  return { queue, link };
}

describe.skipIf(whyNot !== undefined)(`the work queue${reason}`, () => {
  it('has as many places as its limits say, and gives one that was left to another capture', async () => {
    const { queue } = await openQueue();
    const { places } = queue;
    const sequences: (number | undefined)[] = [];
    for (let id = 1; id <= 10; id += 1) sequences.push(await places.publish(place(id)));
    expect(sequences).toEqual([1, 2, 3, 4, 5, 6, 7, 8, undefined, undefined]);
    await places.remove(place(2), 0);
    expect(await places.publish(place(9))).toBe(9);
    expect(await places.publish(place(10))).toBeUndefined();
    expect(await places.subjects('node')).toEqual(new Set([1, 3, 4, 5, 6, 7, 8, 9].map(place)));
    expect(await queue.state()).toMatchObject({ places: 8, tickets: 0 });
  });

  it('delivers the remaining tickets in order after others were removed', async () => {
    const { queue, link } = await openQueue();
    const { tickets } = queue;
    for (let id = 1; id <= 8; id += 1) expect(await tickets.publish(ticket(id))).toBe(id);
    // The ticket is already in the queue, as when the answer to an earlier attempt was lost.
    expect(await tickets.publish(ticket(1))).toBe(0);
    await tickets.remove(ticket(9), 0);
    await tickets.remove(ticket(2), 0);
    await tickets.remove(ticket(3), 3);
    await tickets.remove(ticket(3), 3);
    expect(await tickets.subjects('node')).toEqual(new Set([1, 4, 5, 6, 7, 8].map(ticket)));
    expect(await tickets.subjects('other')).toEqual(new Set());

    const delivered: string[] = [];
    const pulls = new Pulls({
      link,
      room: () => 2,
      onTicket: (delivery) => {
        delivered.push(delivery.subject);
        delivery.ack();
      },
      onMissing: () => {},
    });
    pulls.ready();
    await expect.poll(() => delivered).toEqual([1, 4, 5, 6, 7, 8].map(ticket));
    await expect.poll(async () => (await queue.state()).tickets).toBe(0);
    await pulls.stop();
  });

  it('keeps its limits when another process with other limits joins, and changes them for all processes', async () => {
    const { queue } = await openQueue();
    await queue.ensure({ maxConcurrent: 100, maxQueue: 100 });
    expect(await queue.state()).toMatchObject({ limits: { maxConcurrent: 3, maxQueue: 5 }, capacity: 8 });
    await queue.announce({ maxConcurrent: 2, maxQueue: 1 });
    expect(await queue.state()).toMatchObject({ limits: { maxConcurrent: 2, maxQueue: 1 }, capacity: 8 });
    await queue.lower(3);
    expect(await queue.state()).toMatchObject({ limits: { maxConcurrent: 2, maxQueue: 1 }, capacity: 3 });
  });
});
