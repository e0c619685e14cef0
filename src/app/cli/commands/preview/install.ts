import { randomBytes } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  FORGE_PROVIDERS,
  type ForgeProvider,
  type ForgeRepository,
} from '@berth/forge/request/forge-repository';
import { InputError, errorText } from '@berth/runtime/errors';
import { Option } from 'commander';
import type { SecretFile } from '../../../../controllers/previews/setup/install-preview.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption } from '../../../terminal/output-format.ts';
import { wrongValue } from '../../flags/option-values.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';
import { addAdminFlags, type AdminFlags, neededAdminToken, publicUrlOf } from './admin-token.ts';

interface InstallFlags extends AdminFlags {
  readonly provider: ForgeProvider | 'forgejo';
  readonly url: string;
  readonly apiUrl?: string;
  readonly repository?: string;
  readonly account: string;
  readonly tokenFile: string;
  readonly webhookSecretFile: string;
  readonly existingAccount: boolean;
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

const HELP = `
The command uses the token of an administrator of the repository, and does not store it. In this order it

  token    issues a token for Berth into --token-file: Gitea and Forgejo with the account (the administrator's token
           then is one of the site), GitLab, Bitbucket Data Center; elsewhere it says how a person creates it
  rights   makes the account a collaborator: Gitea, Forgejo, GitHub
  secret   makes the secret of the webhook, into --webhook-secret-file
  webhook  creates the webhook, or corrects the one with this address
  branch   says how a branch requires the status

Files that exist are used and never replaced; run the command again as often as you like. No secret is printed. A
webhook with this address gets the secret of the file. An account that exists already gets a token only with
--existing-account; its other tokens stay.

Exit codes: 0 done, 1 error, 2 a step is left to a person.

Examples:
  berth preview install --provider gitea --url https://git.example.org/team/fleet.git \\
    --public-url https://berth.example.org --admin-token-file admin-token
  BERTH_ADMIN_TOKEN=… berth preview install --provider gitlab --url https://gitlab.com/team/fleet \\
    --public-url https://berth.example.org --dry-run
`;

export const previewInstallCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'preview', 'set up plans on pull requests, and check them')
      .command('install')
      .description('set up a repository: account, token, rights and webhook')
      .addOption(
        new Option('--provider <forge>', 'the forge')
          .choices([...FORGE_PROVIDERS, 'forgejo'])
          .makeOptionMandatory(),
      )
      .requiredOption('--url <url>', 'address of the repository, as in the settings file')
      .option('--api-url <url>', 'base of the API of the forge (default: from --url)')
      .option('--repository <name>', 'owner/name at the forge (default: from --url)')
      .option('--account <name>', 'account of Berth at the forge', 'berth')
      .option('--existing-account', 'issue a token for --account also if it exists already', false)
      .option('--token-file <file>', 'file for the token of Berth', 'forge-token')
      .option('--webhook-secret-file <file>', 'file for the secret of the webhook', 'webhook-secret')
      .option('--dry-run', 'only say what would be done', false)
      .addOption(outputOption());
    addAdminFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: InstallFlags) => install(io, flags)));
  },
};

async function install(io: CliIo, flags: InstallFlags): Promise<ExitCode> {
  const publicUrl = publicUrlOf(flags);
  const { openForge } = await import('@berth/forge/open-forge');
  const { openSetup, webhookPath } = await import('@berth/forge/setup/open-setup');
  const { installPreview } = await import('../../../../controllers/previews/setup/install-preview.ts');
  const { printChecks } = await import('../../../terminal/problem-report.ts');
  const admin = await neededAdminToken(io, flags);
  const repository = await repositoryOf(flags, async () => admin);
  const date = new Date(Date.now() + TOKEN_DAYS * DAY_MS).toISOString().slice(0, 10);
  const steps = await installPreview(
    {
      setup: openSetup(repository),
      forgeWith: (token) => openForge({ ...repository, token: async () => token }),
      repository: repository.repository,
      token: secretFile(io, flags.tokenFile),
      secret: secretFile(io, flags.webhookSecretFile),
      newSecret: () => randomBytes(32).toString('base64url'),
      wanted: {
        account: flags.account,
        name: `berth-previews-${randomBytes(3).toString('hex')}`,
        expiresOn: date,
        password: randomBytes(24).toString('base64url'),
      },
      webhookUrl: `${publicUrl}${webhookPath(repository.provider)}`,
      usesExistingAccount: flags.existingAccount,
      dryRun: flags.dryRun,
    },
    io.signal,
  );
  return EXIT_CODES[await printChecks(io, steps, flags.output)];
}

const EXIT_CODES = { ok: 0, error: 1, warning: 2 } as const;
const DAY_MS = 24 * 60 * 60 * 1000;
/** GitLab allows at most a year. */
const TOKEN_DAYS = 364;

async function repositoryOf(
  { provider: named, url, apiUrl, repository }: InstallFlags,
  token: ForgeRepository['token'],
): Promise<ForgeRepository> {
  const { forgeOfUrl } = await import('@berth/forge/forge-of-url');
  const provider = named === 'forgejo' ? 'gitea' : named;
  const known = forgeOfUrl(provider, url);
  const at = { apiUrl: apiUrl ?? known?.apiUrl, repository: repository ?? known?.repository };
  if (at.apiUrl === undefined || at.repository === undefined)
    throw wrongValue('--url', url, `a repository at ${named}, or --api-url and --repository`);
  return { provider, apiUrl: at.apiUrl, repository: at.repository, token };
}

function secretFile({ cwd }: CliIo, name: string): SecretFile {
  const file = path.resolve(cwd, name);
  const failed = (what: string, cause: unknown): InputError =>
    new InputError(`cannot be ${what}: ${errorText(cause)}`, { code: 'cli.file', subject: name, cause });
  return {
    name,
    read: async () => {
      const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === 'ENOENT') return undefined;
        throw failed('read', cause);
      });
      return text?.trim();
    },
    create: async (make) => {
      const opened = await open(file, 'wx', 0o600).catch((cause: unknown) => {
        throw failed('written', cause);
      });
      let isWritten = false;
      try {
        await opened.writeFile(`${await make()}\n`);
        isWritten = true;
      } finally {
        await opened.close();
        if (!isWritten) await rm(file);
      }
    },
  };
}
