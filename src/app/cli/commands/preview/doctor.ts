import path from 'node:path';
import { boundedText } from '@berth/runtime/http/bounded-text';
import type { CheckedPreview } from '../../../../controllers/previews/setup/check-preview.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption } from '../../../terminal/output-format.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';
import { addAdminFlags, type AdminFlags, adminToken, publicUrlOf } from './admin-token.ts';

interface DoctorFlags extends AdminFlags {
  readonly config: string;
  readonly source?: string;
  readonly output: OutputFormat;
}

const HELP = `
One line a check: the token of Berth and its scopes, the open pull requests, the rights of its account, the webhook
with its events and its last delivery, berth serve at the public address, and whether it accepts webhooks of the
forge. The command changes nothing. The hint below a problem says how to correct it.

With --admin-token-file it reads the webhooks with that token, where that of Berth may not.

Exit codes: 0 no errors, 1 errors.

Examples:
  berth preview doctor --config sources.yaml --public-url https://berth.example.org
  berth preview doctor --config sources.yaml --source fleet --public-url http://127.0.0.1:8080 -o json
`;

export const previewDoctorCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'preview', 'set up plans on pull requests, and check them')
      .command('doctor')
      .description('check what plans on pull requests need, and say how to correct it')
      .requiredOption('--config <file>', 'the settings file of berth serve')
      .option('--source <name>', 'a source with preview (default: the only one)')
      .addOption(outputOption());
    addAdminFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: DoctorFlags) => doctor(io, flags)));
  },
};

async function doctor(io: CliIo, flags: DoctorFlags): Promise<ExitCode> {
  const publicUrl = publicUrlOf(flags);
  const { openSetup, webhookPath } = await import('@berth/forge/setup/open-setup');
  const { checkPreview } = await import('../../../../controllers/previews/setup/check-preview.ts');
  const { openPreviewForge } = await import('../../../settings/serve-source.ts');
  const { readSettings, selectSources } = await import('../../../settings/read-settings.ts');
  const { printChecks } = await import('../../../terminal/problem-report.ts');
  const settings = await readSettings(path.resolve(io.cwd, flags.config));
  const withPreview = settings.filter(({ preview }) => preview !== undefined);
  const [source] = selectSources(
    withPreview.length === 0 ? settings : withPreview,
    flags.source === undefined ? [] : [flags.source],
    'only',
  );
  if (source === undefined) throw new Error('no source was selected');
  const context = { api: undefined, dataDir: io.cwd, nowMs: () => Date.now() };
  const { forge, repository } = openPreviewForge(source, context);
  const admin = await adminToken(io, flags);
  const setup = openSetup(repository);
  const checks = await checkPreview(
    {
      forge,
      setup,
      webhooks: admin === undefined ? setup : openSetup({ ...repository, token: async () => admin }),
      needsAdmin: NEEDS_ADMIN.has(repository.provider),
      publicUrl,
      webhookPath: webhookPath(repository.provider),
      request: (url, method) => request(url, method, io.signal),
    },
    io.signal,
  );
  return (await printChecks(io, checks, flags.output)) === 'error' ? 1 : 0;
}

/** Forges that tell the rights of others only to administrators of the repository. */
const NEEDS_ADMIN: ReadonlySet<string> = new Set(['gitea', 'bitbucket', 'bitbucket-data-center']);
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

async function request(
  url: string,
  method: 'GET' | 'POST',
  signal: AbortSignal,
): ReturnType<CheckedPreview['request']> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, text: await boundedText(response, MAX_ANSWER_BYTES) };
}
