import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags } from '../../flags/hub-flags.ts';
import type { CliCommand } from '../cli-command.ts';
import { DEFAULT_SERVER } from './controller-client.ts';

interface DashboardFlags extends HubFlags {
  readonly server: string;
  readonly printToken: boolean;
}

const HELP = `
Exit codes: 0 printed, 1 nothing serves a dashboard there, or the kubeconfig has no token.

Examples:
  berth dashboard                                        # where it is, and how to log in
  berth dashboard --print-token --kubeconfig hub.kubeconfig   # the token to log in with, and nothing else
  berth dashboard --server https://berth.example.com
`;

export const dashboardCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('dashboard')
      .description('say where the dashboard of berth serve --listen is, and how to log in')
      .option('--server <url>', 'address of the controller (its --listen)', DEFAULT_SERVER)
      .option('--print-token', 'print the token of the kubeconfig, and nothing else', false);
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: DashboardFlags) => dashboard(io, flags)));
  },
};

async function dashboard(
  io: CliIo,
  { server, printToken, kubeconfig, context }: DashboardFlags,
): Promise<ExitCode> {
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const read = () => loadKubeConfig({ file: kubeconfig, context, env: io.env }).getCurrentUser()?.token;
  if (printToken) {
    const token = read();
    if (token === undefined)
      throw new InputError('has no token, expected a user with one', {
        code: 'dashboard.token',
        subject: 'The kubeconfig',
        hint: 'kubectl create token NAME --namespace NAMESPACE makes one of a ServiceAccount',
      });
    io.stdout.write(`${token}\n`);
    return 0;
  }
  const address = `${server.replace(/\/+$/, '')}/`;
  await requirePage(address);
  // Without a kubeconfig the address is still true.
  const hasToken = await Promise.resolve()
    .then(read)
    .catch(() => undefined);
  const how =
    hasToken === undefined
      ? 'kubectl create token NAME --namespace NAMESPACE'
      : `berth dashboard --print-token${kubeconfig === undefined ? '' : ` --kubeconfig ${kubeconfig}`}${context === undefined ? '' : ` --context ${context}`}`;
  io.stdout.write(`Dashboard: ${address}\nLog in with a token of the hub:\n  ${how}\n`);
  return 0;
}

/** @throws InputError or TransientError if nothing serves a dashboard at the address */
async function requirePage(address: string): Promise<void> {
  const hint = 'is berth serve running with --listen? name its address with --server';
  const response = await fetch(address, { signal: AbortSignal.timeout(10_000) }).catch((cause: unknown) => {
    throw new TransientError(`no response: ${errorText((cause as Error).cause ?? cause)}`, {
      ...{ code: 'cli.server', subject: address, hint, cause },
    });
  });
  const isPage = response.ok && (await response.text()).includes('/ui/app.js');
  if (!isPage) throw new InputError('serves no dashboard', { code: 'cli.server', subject: address, hint });
}
