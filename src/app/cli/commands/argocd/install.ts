import { argoConnectionObjects, secretName } from '../../../../../plugin/install/argo-connection.ts';
import { CONFIG_MAP, type KindInfo } from '../../../../core/model/kinds.ts';
import type { KubeObject } from '../../../../core/model/object-meta.ts';
import type { KubeApi } from '../../../../core/ports.ts';
import { renderDocument } from '../../../terminal/output-format.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { wrongValue } from '../../flags/wrong-option.ts';
import type { CliCommand } from '../cli-command.ts';
import { addArgocdFlags, argocdCommand, type ArgocdFlags } from './argocd-flags.ts';
import { ROLE, ROLE_BINDING, SECRET } from './argo-kinds.ts';

interface InstallFlags extends ArgocdFlags {
  readonly name: string;
  readonly url: string;
  readonly tokenFile?: string;
  readonly placementNamespace: readonly string[];
  readonly dryRun: boolean;
}

const KINDS: readonly KindInfo[] = [CONFIG_MAP, SECRET, ROLE, ROLE_BINDING];
const FIELD_MANAGER = 'berth-argocd-install';
const PLACEHOLDER = 'REPLACE-WITH-openssl-rand-hex-32';

const HELP = `
Writes, in the namespace of Argo CD: the ConfigMap and the token of the plugin generator, the ConfigMap of
the generator of decision resources, and the right of Argo CD to list PlacementDecisions. A token that is
there already stays. Otherwise one is made, and what is printed belongs into the token file of berth serve.

Exit codes: 0 written or printed, 1 error.

Examples:
  berth argocd install --url https://berth.berth-system.svc:8443
  berth argocd install --url https://berth.berth-system.svc:8443/namespaces/team-a --name berth-team-a
  berth argocd install --url https://berth.example.org --token-file token --dry-run | kubectl apply -f -
`;

export const argocdInstallCommand: CliCommand = {
  register(program, run) {
    const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
    const command = argocdCommand(program)
      .command('install')
      .description('write what connects Argo CD with Berth: ConfigMaps, token and rights')
      .requiredOption('--url <url>', 'where Argo CD reaches Berth')
      .option('--name <name>', 'name of the plugin ConfigMap', 'berth')
      .option('--token-file <file>', 'the token to write, instead of one that is made')
      .option(
        '--placement-namespace <name>',
        'for the entry of a token that is made: whose placements it may read; may be repeated',
        collect,
        [],
      )
      .option('--dry-run', 'print the manifests and write nothing', false);
    addArgocdFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: InstallFlags) => install(io, flags)));
  },
};

async function install(io: CliIo, flags: InstallFlags): Promise<ExitCode> {
  const { argocdNamespace: namespace, name, url } = flags;
  const baseUrl = checkedUrl(url);
  const given = flags.tokenFile === undefined ? undefined : await readToken(flags.tokenFile);
  if (flags.dryRun) {
    const objects = argoConnectionObjects({ namespace, name, baseUrl, token: given ?? PLACEHOLDER });
    const texts = await Promise.all(objects.map((object) => renderDocument(object, 'yaml')));
    io.stdout.write(texts.join('---\n'));
    return 0;
  }
  await withHub(io, flags, async (hub) => {
    const isThere = (await hub.get(SECRET, { namespace, name: secretName(name) })) !== undefined;
    const made = given === undefined && !isThere ? await makeToken() : undefined;
    const objects = argoConnectionObjects({ namespace, name, baseUrl, token: given ?? made });
    for (const object of objects) await write(hub, object, io);
    if (made !== undefined) io.stdout.write(await tokenEntry(made, flags));
  });
  return 0;
}

async function write(hub: KubeApi, object: KubeObject, io: CliIo): Promise<void> {
  const kind = KINDS.find((one) => one.kind === object.kind) ?? CONFIG_MAP;
  await hub.apply(kind, object, { fieldManager: FIELD_MANAGER });
  io.stdout.write(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name} written\n`);
}

/** What the token file of `berth serve` needs: the digest, never the token. */
async function tokenEntry(token: string, flags: InstallFlags): Promise<string> {
  const { sha256 } = await import('../../../../runtime/sha256.ts');
  const namespaces = flags.placementNamespace.length === 0 ? ['*'] : flags.placementNamespace;
  const entry = { name: `argocd-${flags.name}`, sha256: sha256(token), namespaces };
  const text = await renderDocument({ tokens: [entry] }, 'yaml');
  return `\nA token was made. Add it to the token file of berth serve (--token-file):\n\n${text}`;
}

async function makeToken(): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  return randomBytes(32).toString('hex');
}

/** The first token of a file in either form that `berth serve` takes. */
async function readToken(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const { parseTokenFile } = await import('../../../../../plugin/tokens/token-file.ts');
  const entries = parseTokenFile(file, await readFile(file, 'utf8'));
  const token = entries.find((entry) => entry.token !== undefined && entry.grant.scopes.has('plugin'))?.token;
  if (token === undefined) throw wrongValue('--token-file', file, 'a file with a token, not its sha256');
  return token;
}

function checkedUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search !== '')
    throw wrongValue('--url', url, 'https://HOST:PORT, with a path where it binds, and without a query');
  return url;
}
