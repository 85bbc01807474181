import { describe, expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import { namesOf } from './listening.ts';

const lookup = namesOf({
  'public.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'private.example': ['10.0.0.1'],
  'half.example': ['93.184.215.14', '127.0.0.1'],
  'wiki.internal': ['10.0.0.2'],
});

function screening({ allow = [] as string[], deny = [] as string[] } = {}) {
  return createEgress({ policy: createTargetPolicy({ allow, deny }), lookup });
}

function forbidden(reason: string): unknown {
  return { code: 'target_forbidden', reason: expect.stringContaining(reason) };
}

const { signal } = new AbortController();

describe('screenLiteral', () => {
  const egress = screening();

  it.each([
    'file:///etc/passwd',
    'view-source:http://example.com/',
    'data:text/html,hello',
    'ftp://example.com/',
    'chrome://version',
    'javascript:alert(1)',
    'about:blank',
    'blob:http://example.com/1',
    'ws://example.com/',
  ])('forbids %s for its scheme', (url) => {
    expect(egress.screenLiteral(new URL(url))).toEqual(forbidden('only http: and https:'));
  });

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://0x7f.0.0.1/',
    'http://0x7f000001/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://①②⑦.0.0.1/',
    'http://127。0。0。1/',
    'http://user:password@127.0.0.1/',
    'http://0/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.b.localhost/',
    'https://169.254.169.254/latest/meta-data/',
  ])('forbids %s for its address', (url) => {
    expect(egress.screenLiteral(new URL(url))).toEqual(forbidden('not public'));
  });

  it('forbids ports that browsers refuse to open, and names the service of the port', () => {
    expect(egress.screenLiteral(new URL('http://example.com:25/'))).toEqual(forbidden('port 25 (smtp)'));
    expect(egress.screenLiteral(new URL('https://example.com:6000/'))).toEqual(forbidden('port 6000 (x11)'));
    expect(egress.screenLiteral(new URL('http://example.com:0/'))).toEqual(forbidden('port 0'));
    expect(egress.screenLiteral(new URL('https://example.com:8443/'))).toBeNull();
  });

  it('allows every other name, with or without credentials', () => {
    expect(egress.screenLiteral(new URL('http://example.com/'))).toBeNull();
    expect(egress.screenLiteral(new URL('https://user:password@private.example/'))).toBeNull();
  });
});

describe('screen', () => {
  it('forbids a name when any of its addresses is not public, without disclosing the address', async () => {
    const egress = screening();
    const refusal = await egress.screen(new URL('http://private.example/'), signal);
    expect(refusal).toEqual(forbidden('private.example resolves to an address that is not public (private)'));
    expect(refusal?.reason).not.toContain('10.0.0.1');
    expect(await egress.screen(new URL('https://half.example/'), signal)).toEqual(forbidden('loopback'));
    expect(await egress.screen(new URL('https://public.example/'), signal)).toBeNull();
  });

  it('does not forbid a name that does not exist', async () => {
    expect(await screening().screen(new URL('http://nowhere.example/'), signal)).toBeNull();
  });

  it('applies the lists: an allowed name, a denied name, and a denied address behind an allowed name', async () => {
    const egress = screening({ allow: ['wiki.internal', 'private.example'], deny: ['10.0.0.1', 'public.example'] });
    expect(await egress.screen(new URL('http://wiki.internal/'), signal)).toBeNull();
    expect(await egress.screen(new URL('http://private.example/'), signal)).toEqual(
      forbidden('closed by the operator'),
    );
    expect(await egress.screen(new URL('http://public.example./'), signal)).toEqual(
      forbidden('closed by the operator'),
    );
  });

  it('allows localhost when its address or its name is allowed', async () => {
    const url = new URL('http://localhost:8080/');
    expect(await screening({ allow: ['127.0.0.0/8'] }).screen(url, signal)).toBeNull();
    expect(await screening({ allow: ['localhost'] }).screen(url, signal)).toBeNull();
    expect(await screening({ allow: ['localhost'], deny: ['127.0.0.0/8', '::1'] }).screen(url, signal)).toEqual(
      forbidden('loopback'),
    );
  });

  it("rejects with the signal's reason while a name server does not answer", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const egress = createEgress({
      policy: createTargetPolicy({ allow: [], deny: [] }),
      lookup: () => {
        resolve();
        return new Promise(() => {});
      },
    });
    const caller = new AbortController();
    const screened = egress.screen(new URL('http://slow.example/'), caller.signal);
    await asked;
    caller.abort(new Error('the client disconnected'));
    await expect(screened).rejects.toThrow('the client disconnected');
  });
});
