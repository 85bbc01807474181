import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/streams/admission.ts';
import type { BatchTicket } from '../../src/streams/batch-ticket.ts';

function ticketOf(width: number, maxConcurrent = width) {
  const admission = createAdmission({ maxConcurrent, maxQueue: 0 }, () => 0);
  const ticket = admission.admitBatch(width);
  if (ticket === undefined) throw new Error('the batch was not admitted');
  return { admission, ticket };
}

/** Claims a place and takes a pass when the claim begins. */
function claimed(ticket: BatchTicket) {
  const state = { hasBegun: false, hasPass: false };
  let release = (): void => {};
  const end = ticket.claim(() => {
    const pass = ticket.lend();
    state.hasBegun = true;
    state.hasPass = pass !== undefined;
    release = () => pass?.release();
  });
  return {
    state,
    end: () => {
      release();
      end();
    },
  };
}

describe('createBatchTicket', () => {
  it('begins claims at once while it holds a place for each, then one for each that ends', () => {
    const { ticket } = ticketOf(2, 3);
    const [one, two, three] = [claimed(ticket), claimed(ticket), claimed(ticket)];
    expect([one.state.hasPass, two.state.hasPass, three.state.hasBegun]).toEqual([true, true, false]);
    two.end();
    two.end();
    expect(three.state.hasPass).toBe(true);
  });

  it('gives places back only while none is claimed, and takes them again', () => {
    const { admission, ticket } = ticketOf(2);
    const one = claimed(ticket);
    ticket.giveBack();
    expect(admission.inside).toBe(2);
    one.end();
    ticket.giveBack();
    expect(admission.inside).toBe(0);
    const [again, another] = [claimed(ticket), claimed(ticket)];
    expect([again.state.hasPass, another.state.hasPass, admission.inside]).toEqual([true, true, 2]);
  });

  it('waits for a place when others have taken what it gave back, ahead of new captures', () => {
    const { admission, ticket } = ticketOf(2);
    ticket.giveBack();
    const others = [admission.admit(), admission.admit()];
    const [one, two] = [claimed(ticket), claimed(ticket)];
    expect([one.state.hasBegun, two.state.hasBegun]).toEqual([false, false]);
    others[0]?.release();
    expect([one.state.hasPass, two.state.hasBegun, admission.admit()]).toEqual([true, false, undefined]);
    one.end();
    expect([two.state.hasPass, admission.inside]).toEqual([true, 2]);
    two.end();
    ticket.release();
    expect(admission.inside).toBe(1);
  });

  it('stops waiting when its claim ends', () => {
    const { admission, ticket } = ticketOf(1);
    ticket.giveBack();
    const other = admission.admit();
    const waiting = claimed(ticket);
    waiting.end();
    other?.release();
    expect([waiting.state.hasBegun, admission.inside]).toEqual([false, 0]);
  });

  it('takes a place when a limit is raised', () => {
    const { admission, ticket } = ticketOf(1);
    ticket.giveBack();
    admission.admit();
    const waiting = claimed(ticket);
    admission.setLimits({ maxConcurrent: 2, maxQueue: 0 });
    expect([waiting.state.hasPass, admission.inside]).toEqual([true, 2]);
  });

  it.each(['close', 'revokeBatches'] as const)('begins waiting claims without a pass after %s', (end) => {
    const { admission, ticket } = ticketOf(1);
    ticket.giveBack();
    admission.admit();
    const waiting = claimed(ticket);
    admission[end]();
    expect(waiting.state).toEqual({ hasBegun: true, hasPass: false });
    expect(claimed(ticket).state).toEqual({ hasBegun: true, hasPass: false });
  });

  it('lends no pass after it gave its places back to a closed admission', () => {
    const { admission, ticket } = ticketOf(1);
    admission.close();
    ticket.giveBack();
    expect([claimed(ticket).state, admission.inside]).toEqual([{ hasBegun: true, hasPass: false }, 0]);
  });
});
