import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { sameRepository } from '../../../adapters/scm/repository-url.ts';
import type { WebhookEvent } from '../../../adapters/scm/webhook-event.ts';
import type { WebhookSecrets } from '../../../adapters/scm/verify-webhook.ts';
import { webhookHandler } from '../../../adapters/scm/webhook-handler.ts';
import { InputError, errorText } from '../../../core/errors.ts';
import type { GitLoop } from '../sync/git-loop.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';

/** A push that concerns a source makes it fetch now. Polling stays the safety net for deliveries that got lost. */
export function webhookRoute({ options, loops }: ControllerHttpOptions): RequestHandler {
  const files = Object.entries(options.http?.webhookSecretFiles ?? {});
  const handle = webhookHandler({
    providers: Object.fromEntries(files.map(([provider, file]) => [provider, rotatingSecrets(file)])),
    nowMs: () => options.clock.now(),
    onEvent: (event, provider) => {
      if (event.kind !== 'push') return;
      // Only there is it meant when no repository is named.
      const all = provider === 'generic' && event.repositoryUrls.length === 0;
      for (const loop of loops) if (concerns(event, loop, all)) loop.fetch();
    },
  });
  return (request, response, next) => {
    handle(request, response).catch(next);
  };
}

function concerns({ repositoryUrls, ref }: PushEvent, loop: GitLoop, all: boolean): boolean {
  // A name that is not in full may be a branch or a tag.
  if (ref?.startsWith('refs/') === true && !loop.concerns(ref)) return false;
  return all || repositoryUrls.some((known) => sameRepository(known, loop.url));
}

type PushEvent = WebhookEvent & { readonly kind: 'push' };

/** Read anew for every delivery, so that a changed secret counts at once; while the file cannot be read, its last ones do. */
function rotatingSecrets(file: string): WebhookSecrets {
  let known = secretsOf(file);
  return {
    get secrets() {
      try {
        known = secretsOf(file);
      } catch {
        // It is being replaced.
      }
      return known;
    },
  };
}

function secretsOf(file: string): readonly string[] {
  const secrets = textOf(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length > 0) return secrets;
  throw badSecrets(file, 'is empty, expected one webhook secret per line');
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw badSecrets(file, `cannot be read: ${errorText(cause)}`, cause);
  }
}

function badSecrets(file: string, problem: string, cause?: unknown): InputError {
  return new InputError(problem, { code: 'serve.webhook-secret', subject: `Webhook secrets ${file}`, cause });
}
