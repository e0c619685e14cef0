import type { RequestHandler } from 'express';
import { concernsRepository } from '../../../adapters/forge/request/repository-url.ts';
import type { WebhookEvent } from '../../../adapters/forge/event/webhook-event.ts';
import type { WebhookSecrets } from '../../../adapters/forge/webhook/verify-webhook.ts';
import { webhookHandler } from '../../../adapters/forge/webhook/webhook-handler.ts';
import { InputError } from '../../../core/errors.ts';
import type { Clock, Logger } from '../../../core/ports.ts';
import { SecretFile } from '../../../runtime/files/secret-file.ts';
import type { GitLoop } from '../../../controllers/sources/following/git-loop.ts';
import type { ControllerHttpOptions } from './controller-http-options.ts';
import { forwardToLeader, isAboutPullRequest } from './forward-to-leader.ts';

/** A push to a followed repository makes its sources fetch now. Polling covers lost deliveries. */
export function webhookRoute({
  options,
  loops,
  previews,
  leadership,
}: ControllerHttpOptions): RequestHandler {
  const files = Object.entries(options.http?.webhookSecretFiles ?? {});
  const handle = webhookHandler({
    providers: Object.fromEntries(
      files.map(([provider, file]) => [provider, rotatingSecrets(file, options)]),
    ),
    nowMs: () => options.clock.now(),
    onEvent: (event, provider) => {
      if (event.kind !== 'push') return previews?.take(event);
      // Only the generic webhook means all sources if it names no repository.
      const all = provider === 'generic' && event.repositoryUrls.length === 0;
      for (const loop of loops) if (concerns(event, loop, all)) loop.fetch();
    },
  });
  const toLeader = forwardToLeader(options.http?.peers ?? []);
  return (request, response, next) => {
    const isForLeader = previews !== undefined && isAboutPullRequest(request.headers);
    if (isForLeader && !leadership.isHeld) void toLeader(request, response, next);
    else handle(request, response).catch(next);
  };
}

function concerns(event: PushEvent, loop: GitLoop, all: boolean): boolean {
  // A name that is not a full ref may be a branch or a tag.
  if (event.ref?.startsWith('refs/') === true && !loop.concerns(event.ref)) return false;
  return all || concernsRepository(event, loop.url);
}

type PushEvent = WebhookEvent & { readonly kind: 'push' };

/**
 * The file is read again at most every second. A secret that was removed from the file is refused, and all are refused
 * while the file is missing, empty or invalid.
 */
function rotatingSecrets(
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): WebhookSecrets {
  const kept = new SecretFile({
    file,
    what: 'webhook secrets',
    without: 'no delivery is accepted',
    parse: (text) => secretsOf(file, text),
    log,
  });
  if (kept.problem !== undefined) throw kept.problem;
  return {
    get secrets() {
      return kept.current(clock.now()) ?? [];
    },
  };
}

function secretsOf(file: string, text: string): readonly string[] {
  const secrets = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length > 0) return secrets;
  throw new InputError('is empty, expected one webhook secret per line', {
    code: 'serve.webhook-secret',
    subject: `Webhook secrets ${file}`,
  });
}
