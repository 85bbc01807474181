import { computed, signal } from '@preact/signals';
import { call, loginRequired } from './client.ts';
import type { Session } from './types.ts';

/** Whether the service has API keys; undefined until it is known. */
export const needsKey = signal<boolean | undefined>(undefined);

const scope = signal<Session['scope'] | undefined>(undefined);

/**
 * Whether the key may capture pages and change its watches; undefined until it is known. A key that reads is shown no
 * forms.
 */
export const mayCapture = computed(() =>
  scope.value === undefined ? undefined : scope.value === 'capture' || scope.value === 'admin',
);

/** Whether the key may set and lift holds; undefined until it is known. */
export const isAdmin = computed(() => (scope.value === undefined ? undefined : scope.value === 'admin'));

/** Finds out whether a login is needed. */
export async function readSession(): Promise<void> {
  const { data } = await call<Session>('/session');
  scope.value = data.scope;
  needsKey.value = data.required;
  loginRequired.value = data.required && !data.authenticated;
}

/** Exchanges a key for a session, which the browser keeps in a cookie that scripts cannot read. */
export async function logIn(key: string): Promise<void> {
  const { data } = await call<Session>('/session', { method: 'POST', body: { key } });
  scope.value = data.scope;
  needsKey.value = true;
  loginRequired.value = false;
}

export async function logOut(): Promise<void> {
  try {
    await call('/session', { method: 'DELETE' });
  } finally {
    loginRequired.value = true;
  }
}
