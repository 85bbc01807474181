import { EMPTY, finalize, Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createDialStage, type Undialled } from '../../src/streams/dial-stage.ts';
import { captureRequest } from '../support/capture-request.ts';

interface Capture extends Undialled {
  readonly name: string;
}

/** A stage whose dials end when they are told to. */
function rig(limit: number) {
  const stage = createDialStage(limit);
  const dialling = new Map<string, (isReached: boolean) => void>();
  const begun: string[] = [];
  const passed: string[] = [];
  const dial = (capture: Capture) =>
    new Observable<Capture>((subscriber) => {
      begun.push(capture.name);
      dialling.set(capture.name, (isReached) => {
        dialling.delete(capture.name);
        (isReached ? of(capture) : EMPTY).subscribe(subscriber);
      });
    }).pipe(finalize(() => dialling.delete(capture.name)));
  const submit = (name: string, owner: string | null = null, host = `${name}.test`, batch: string | null = null) => {
    const controller = new AbortController();
    const request = captureRequest(`http://${host}/`);
    const capture = { name, owner, command: { batch, request, signal: controller.signal } };
    stage.inTurn(capture, dial(capture)).subscribe(({ name }) => passed.push(name));
    return controller;
  };
  return { stage, dialling, begun, passed, submit, names: () => [...dialling.keys()] };
}

const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

describe('dial stage', () => {
  it('dials at most as many targets at once as it may, and passes on those that are reached', () => {
    const { submit, dialling, passed, names } = rig(2);
    for (const name of ['a', 'b', 'c']) submit(name);
    expect(names()).toEqual(['a', 'b']);
    dialling.get('a')?.(false);
    dialling.get('b')?.(true);
    expect(names()).toEqual(['c']);
    expect(passed).toEqual(['b']);
  });

  it('dials at most 8 targets of one host at once, and others meanwhile', () => {
    const { submit, dialling, names } = rig(256);
    for (const name of numbered(20, 'same')) submit(name, null, 'host.test');
    submit('other');
    expect(names()).toEqual([...numbered(8, 'same'), 'other']);
    dialling.get('same3')?.(false);
    expect(names()).toContain('same8');
    expect(names()).not.toContain('same9');
  });

  it('leaves half of the free dials, and one of those to a host, to other owners', () => {
    const { submit, names } = rig(16);
    for (const name of numbered(40, 'list')) submit(name, 'one');
    expect(names().length).toBe(8);
    submit('page', 'two');
    expect(names()).toContain('page');

    const host = rig(256);
    for (const name of numbered(40, 'port')) host.submit(name, 'one', 'host.test');
    expect(host.names().length).toBe(7);
    host.submit('page', 'two', 'host.test');
    expect(host.names()).toContain('page');
  });

  it('forgets captures that are cancelled while they wait, for a dial or for their host', () => {
    const { submit, dialling, names } = rig(1);
    submit('a', null, 'host.test');
    const waiting = submit('b', null, 'other.test');
    submit('c', null, 'third.test');
    waiting.abort();
    dialling.get('a')?.(false);
    expect(names()).toEqual(['c']);

    const host = rig(256);
    const same = numbered(9, 'same').map((name) => host.submit(name, null, 'host.test'));
    host.submit('last', null, 'host.test');
    same[8]?.abort();
    host.dialling.get('same0')?.(false);
    expect(host.names()).toContain('last');
  });

  it('dials no waiting capture in place of a cancelled one before the dial of that one has ended', () => {
    const { submit, dialling, begun } = rig(256);
    const batch = numbered(9, 'same').map((name) => submit(name, null, 'host.test'));
    submit('other', null, 'host.test');
    batch[0]?.abort();
    batch[8]?.abort();
    expect(begun).toEqual(numbered(8, 'same'));
    dialling.get('same0')?.(false);
    expect(begun).toEqual([...numbered(8, 'same'), 'other']);
  });

  it('passes captures on undialled once its limit is 0, also those that wait', () => {
    const { stage, submit, passed, names } = rig(1);
    for (const name of ['a', 'b', 'c']) submit(name);
    stage.setLimit(0);
    expect(passed).toEqual(['b', 'c']);
    expect(names()).toEqual(['a']);
    submit('d');
    expect(passed).toEqual(['b', 'c', 'd']);
    stage.setLimit(2);
    for (const name of ['e', 'f']) submit(name);
    expect(names()).toEqual(['a', 'e']);
  });

  it('passes on undialled also those that wait for their host, once its limit is 0', () => {
    const { stage, submit, passed } = rig(256);
    for (const name of numbered(10, 'same')) submit(name, 'one', 'host.test');
    stage.setLimit(0);
    expect(passed).toEqual(['same7', 'same8', 'same9']);
  });

  it('passes on the captures of one host in their order', () => {
    const { submit, dialling, passed } = rig(256);
    const all = numbered(20, 'same');
    for (const name of all) submit(name, null, 'host.test');
    for (const name of all) dialling.get(name)?.(true);
    expect(passed).toEqual(all);
  });
});
