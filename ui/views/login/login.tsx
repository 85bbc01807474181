import { logIn } from '../../api/session.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Logo } from '../../shell/navigation.tsx';

/** Asks for an API key when the service requires one. The key is sent once and not stored. */
export function Login() {
  const { error, isRunning, attempt } = useAttempt();
  const submit = (event: Event & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    void attempt(() => logIn(String(key).trim()));
  };
  return (
    <main id="main" class="login">
      <form class="panel" onSubmit={submit}>
        <Logo />
        <h1>Log in to Capstan</h1>
        <label class="field">
          <span>API key</span>
          <input
            name="key"
            type="password"
            required
            autocomplete="current-password"
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : 'login-error'}
          />
        </label>
        {error !== undefined && (
          <p id="login-error" class="error-text" role="alert">
            {error instanceof Error ? error.message : String(error)}
          </p>
        )}
        <button type="submit" class="button primary" disabled={isRunning}>
          Log in
        </button>
        <p class="muted">The key is exchanged for a cookie that is valid for 12 hours. This page does not keep it.</p>
      </form>
    </main>
  );
}
