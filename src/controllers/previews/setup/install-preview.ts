import type { PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import type { ForgeSetup, IssuedToken, WantedToken } from '@berth/forge/setup/forge-setup';
import { InputError } from '@berth/runtime/errors';
import type { Passed, Problem } from '@berth/runtime/problem/problem';
import { attempt, failed, passed, type SetupStep } from './setup-step.ts';

/** A file with a secret in its only line. */
export interface SecretFile {
  /** The path as given. */
  readonly name: string;
  /** Undefined if there is none. */
  read(): Promise<string | undefined>;
  /**
   * Creates it, readable by its owner only.
   * @param make gives the text, and is called only if the file can be written
   */
  create(make: () => Promise<string>): Promise<void>;
}

export interface PreviewInstallation {
  readonly setup: ForgeSetup;
  /** The forge with the token of Berth. */
  readonly forgeWith: (token: string) => PullRequestForge;
  readonly repository: string;
  readonly token: SecretFile;
  readonly secret: SecretFile;
  readonly newSecret: () => string;
  readonly wanted: WantedToken;
  /** Whether a token may be issued for an account that exists already: it may be somebody else's. */
  readonly usesExistingAccount: boolean;
  /** The address that the forge calls. */
  readonly webhookUrl: string;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
}

/**
 * Sets up a repository for previews with the token of its administrator. What is there already stays. No step shows a
 * secret. A failed step does not stop the others, except those that need its result.
 */
export async function installPreview(
  installation: PreviewInstallation,
  signal: AbortSignal,
): Promise<readonly SetupStep[]> {
  const token = await attempted('token', () => tokenStep(installation, signal));
  const rights = await attempted('rights', () => rightsStep(installation, token.value, signal));
  const secret = await attempted('secret', () => secretStep(installation));
  const webhook = await attempted('webhook', () => webhookStep(installation, secret.value, signal));
  return [token.step, rights.step, secret.step, webhook.step, protection(installation)];
}

interface Outcome {
  readonly step: SetupStep;
  /** What later steps need. */
  readonly value?: string | undefined;
}

function attempted(object: string, run: () => Promise<Outcome>): Promise<Outcome> {
  return attempt(object, run, (step) => ({ step }));
}

function byHand(object: string, message: string, hint: string): Problem {
  return { ...failed(object, message, hint), severity: 'warning' };
}

async function tokenStep(installation: PreviewInstallation, signal: AbortSignal): Promise<Outcome> {
  const { token, setup, wanted, forgeWith, dryRun } = installation;
  const known = await token.read();
  if (known !== undefined) {
    await forgeWith(known).defaultBranch(signal);
    return { step: passed('token', `the one in ${token.name} works`), value: known };
  }
  const { issueToken } = setup;
  if (issueToken === undefined) {
    const hint = `${setup.tokenByHand}; put it into ${token.name}, and run the command again`;
    return { step: byHand('token', 'the forge lets only a person create one', hint) };
  }
  const refused = await existingAccount(installation, signal);
  if (refused !== undefined) return { step: refused };
  if (dryRun)
    return { step: passed('token', `would be issued for ${wanted.account} and put into ${token.name}`) };
  let issued: IssuedToken | undefined;
  await token.create(async () => {
    issued = await issueToken(wanted, signal).catch((error: unknown) => {
      if (!(error instanceof InputError) || error.code !== 'scm.auth') throw error;
      const problem = `the token of the administrator may not create one: ${error.message}`;
      const hint = `${setup.tokenByHand}; put it into ${token.name}`;
      throw new InputError(problem, { code: 'preview.token', subject: 'token', cause: error, hint });
    });
    return issued.token;
  });
  return { step: passed('token', `${issued?.text ?? ''}; it is in ${token.name}`), value: issued?.token };
}

/** A token acts as its account, so one of an account that is there already needs the consent of a person. */
async function existingAccount(
  { setup, token, wanted: { account }, usesExistingAccount }: PreviewInstallation,
  signal: AbortSignal,
): Promise<Problem | undefined> {
  if (usesExistingAccount || (await setup.hasAccount?.(account, signal)) !== true) return undefined;
  return byHand(
    'token',
    `none is issued, because the account ${account} exists already and may be somebody's`,
    `if it is Berth's, use --existing-account: it gets one more token, its others stay, and it becomes an administrator of this repository. Otherwise name another account with --account, or put a token of it into ${token.name}`,
  );
}

async function rightsStep(
  { setup, forgeWith, repository, wanted, dryRun }: PreviewInstallation,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { grant } = setup;
  if (grant === undefined) return { step: passed('rights', 'the token brings them') };
  const account = token === undefined ? wanted.account : await forgeWith(token).ownAccount(signal);
  const text = `${account} is a collaborator of ${repository}`;
  if (dryRun) return { step: passed('rights', `${account} would be a collaborator of ${repository}`) };
  if (token === undefined)
    return { step: byHand('rights', 'are given when there is a token', 'run the command again then') };
  await grant(account, signal);
  return { step: passed('rights', text) };
}

async function secretStep({ secret, newSecret, dryRun }: PreviewInstallation): Promise<Outcome> {
  const known = await secret.read();
  if (known !== undefined)
    return { step: passed('secret', `the one in ${secret.name} is used`), value: known };
  if (dryRun) return { step: passed('secret', `would be made and put into ${secret.name}`) };
  const made = newSecret();
  await secret.create(async () => made);
  return { step: passed('secret', `made; it is in ${secret.name}`), value: made };
}

async function webhookStep(
  { setup, webhookUrl, dryRun, secret: file }: PreviewInstallation,
  secret: string | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const known = (await setup.webhooks(signal)).find(({ url }) => url === webhookUrl);
  const isRight = known?.isActive === true && setup.events.every((event) => known.events.includes(event));
  const what = known === undefined ? 'created' : isRight ? 'up to date' : 'corrected';
  if (dryRun) return { step: passed('webhook', `${webhookUrl} would be ${what}`) };
  if (secret === undefined)
    return {
      step: byHand('webhook', 'needs a secret', 'correct the problem above, and run the command again'),
    };
  // A forge does not show the secret of a webhook, so it is written in any case.
  await setup.writeWebhook({ url: webhookUrl, secret }, signal);
  return { step: passed('webhook', `${webhookUrl} is ${what}, with the secret in ${file.name}`) };
}

/** Nobody but the owners of a branch decides what it requires. */
function protection({ setup }: PreviewInstallation): Passed {
  return passed(
    'branch',
    `to block merges on the plan, require the status berth/preview/SOURCE: ${setup.protectionByHand}`,
  );
}
