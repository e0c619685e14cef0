import type { PullRequestForge, RepositoryPermission } from '@berth/forge/contract/pull-request-forge';
import type { ForgeSetup, ForgeWebhook } from '@berth/forge/setup/forge-setup';
import { BerthError, errorText } from '@berth/runtime/errors';
import { attempt, failed, passed, type SetupStep } from './setup-step.ts';

export interface CheckedPreview {
  /** With the token of Berth. */
  readonly forge: PullRequestForge;
  /** With the token of Berth. */
  readonly setup: ForgeSetup;
  /** Reads webhooks: with the token of an administrator, or with that of Berth. */
  readonly webhooks: Pick<ForgeSetup, 'webhooks'>;
  /** Whether the forge tells the rights of others only to administrators. */
  readonly needsAdmin: boolean;
  /** Where the forge and its users reach Berth, without a slash at the end. */
  readonly publicUrl: string;
  /** The part of the address that webhooks call. */
  readonly webhookPath: string;
  /** One request; an answer without a body is read to its end. */
  readonly request: (url: string, method: 'GET' | 'POST') => Promise<{ status: number; text: string }>;
}

/** Checks what previews need, without a write. Each check is one line; one that fails does not stop the others. */
export async function checkPreview(
  checked: CheckedPreview,
  signal: AbortSignal,
): Promise<readonly SetupStep[]> {
  const { forge, setup } = checked;
  const token = await check('token', async () => {
    const branch = await forge.defaultBranch(signal);
    return passed('token', `the forge accepts it; the default branch is ${branch}`);
  });
  if (token.severity !== 'ok') return [token, ...(await ofServer(checked))];
  return [
    token,
    ...(await scopeCheck(setup, signal)),
    await check('pull requests', async () =>
      passed('pull requests', `${(await forge.listOpen(signal)).length} open`),
    ),
    await check('rights', () => rightsCheck(checked, signal)),
    await check('webhook', () => webhookCheck(checked, signal)),
    ...(await ofServer(checked)),
  ];
}

function check(object: string, run: () => Promise<SetupStep>): Promise<SetupStep> {
  return attempt(object, run, (problem) => problem);
}

async function scopeCheck(setup: ForgeSetup, signal: AbortSignal): Promise<readonly SetupStep[]> {
  const scopes = await setup.scopes(signal).catch((error: unknown) => {
    if (error instanceof BerthError) return undefined;
    throw error;
  });
  if (scopes === undefined) return [];
  const lacking = setup.neededScopes.filter((ways) => !ways.some((scope) => scopes.includes(scope)));
  if (lacking.length === 0) return [passed('scopes', scopes.join(', '))];
  const names = lacking.map((ways) => ways.join(' or ')).join(', ');
  return [failed('scopes', `the token lacks ${names}`, setup.tokenByHand)];
}

const RANKS: Readonly<Record<RepositoryPermission, number>> = { none: 0, read: 1, write: 2, admin: 3 };

async function rightsCheck(
  { forge, needsAdmin, setup }: CheckedPreview,
  signal: AbortSignal,
): Promise<SetupStep> {
  const account = await forge.ownAccount(signal).catch(async (error: unknown) => {
    if (!(error instanceof BerthError) || error.code !== 'scm.auth') throw error;
    // An access token of Bitbucket Cloud may not ask who it is. That it may ask about others is what matters.
    await forge.permissionOf('nobody', signal);
    return undefined;
  });
  if (account === undefined) return passed('rights', 'the token may read the rights of others');
  const permission = await forge.permissionOf(account, signal);
  const needed = needsAdmin ? 'admin' : 'write';
  if (RANKS[permission] >= RANKS[needed]) return passed('rights', `${account} has ${permission}`);
  return failed(
    'rights',
    `${account} has ${permission}, expected ${needed}: without it commands in comments are ignored`,
    setup.grant === undefined ? setup.tokenByHand : 'berth preview install gives the rights',
  );
}

async function webhookCheck(
  { webhooks, setup, webhookPath, publicUrl }: CheckedPreview,
  signal: AbortSignal,
): Promise<SetupStep> {
  const url = `${publicUrl}${webhookPath}`;
  let all: readonly ForgeWebhook[];
  try {
    all = await webhooks.webhooks(signal);
  } catch (error) {
    if (!(error instanceof BerthError) || !['scm.auth', 'scm.not-found'].includes(error.code)) throw error;
    const hint = 'give the token of an administrator with --admin-token-file';
    return {
      ...failed('webhook', 'the token may not read webhooks, so they are not checked', hint),
      severity: 'warning',
    };
  }
  const known = all.find((one) => one.url === url);
  if (known === undefined)
    return failed('webhook', `none of ${all.length} calls ${url}`, 'berth preview install creates it');
  if (!known.isActive) return failed('webhook', `${url} is not active`, 'berth preview install activates it');
  const missing = setup.events.filter((event) => !known.events.includes(event));
  if (missing.length > 0)
    return failed('webhook', `${url} lacks ${missing.join(', ')}`, 'berth preview install adds them');
  const { lastDelivery } = known;
  if (lastDelivery?.isGood === false)
    return failed(
      'webhook',
      `the last delivery to ${url} ended with ${lastDelivery.result}`,
      'the forge shows the answer: 401 means another secret, no answer means that the forge does not reach the address',
    );
  const last = lastDelivery === undefined ? '' : `; the last delivery ended with ${lastDelivery.result}`;
  return passed('webhook', `${url} is active and has all ${setup.events.length} events${last}`);
}

/** Whether Berth answers at the address that users of the forge have, and accepts webhooks of this forge there. */
async function ofServer(checked: CheckedPreview): Promise<readonly SetupStep[]> {
  const { publicUrl, request, webhookPath } = checked;
  const health = await asked(request, `${publicUrl}/healthz`, 'GET');
  if (typeof health === 'string')
    return [
      failed(
        'server',
        `${publicUrl} cannot be reached from here: ${health}`,
        'is berth serve running with --listen?',
      ),
    ];
  if (health.status !== 200 || health.text.trim() !== 'ok')
    return [
      failed(
        'server',
        `${publicUrl}/healthz answers ${health.status}, expected "ok" from berth serve`,
        'another server has this address, or a proxy does not pass /healthz on',
      ),
    ];
  const server = passed('server', `berth serve answers at ${publicUrl}`);
  // A delivery without a signature is refused, which shows that the path is served and checked.
  const delivery = await asked(request, `${publicUrl}${webhookPath}`, 'POST');
  const path = `${publicUrl}${webhookPath}`;
  if (typeof delivery !== 'string' && delivery.status === 401)
    return [server, passed('deliveries', `${path} asks for the secret`)];
  const got = typeof delivery === 'string' ? delivery : `the answer ${delivery.status}`;
  const provider = webhookPath.split('/').at(-1) ?? '';
  const hint = `start berth serve with --webhook ${provider}=FILE`;
  return [server, failed('deliveries', `${path} gives ${got}, expected 401 without a secret`, hint)];
}

async function asked(
  request: CheckedPreview['request'],
  url: string,
  method: 'GET' | 'POST',
): Promise<{ readonly status: number; readonly text: string } | string> {
  try {
    return await request(url, method);
  } catch (error) {
    return errorText((error as Error).cause ?? error);
  }
}
