import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { sameRepository } from '../../../adapters/scm/repository-url.ts';
import type { WebhookEvent } from '../../../adapters/scm/webhook-event.ts';
import { webhookHandler } from '../../../adapters/scm/webhook-handler.ts';
import { InputError } from '../../../core/errors.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';

/** A push that concerns a source makes it fetch now. Polling stays the safety net for deliveries that got lost. */
export function webhookRoute({ options, loops }: ControllerHttpOptions): RequestHandler {
  const files = Object.entries(options.http?.webhookSecretFiles ?? {});
  const providers = Object.fromEntries(
    files.map(([provider, file]) => [provider, { secrets: secretsOf(file) }]),
  );
  const handle = webhookHandler({
    providers: providers,
    nowMs: () => options.clock.now(),
    onEvent: (event) => {
      for (const loop of loops) if (concerns(event, loop.url)) loop.trigger();
    },
  });
  return (request, response, next) => {
    handle(request, response).catch(next);
  };
}

function concerns(event: WebhookEvent, url: string): boolean {
  return event.kind === 'push' && event.repositoryUrls.some((known) => sameRepository(known, url));
}

function secretsOf(file: string): string[] {
  const secrets = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length > 0) return secrets;
  throw new InputError('is empty, expected one webhook secret per line', {
    code: 'serve.webhook-secret',
    subject: file,
  });
}
