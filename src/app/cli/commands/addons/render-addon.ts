import { InputError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  ADDON_GROUP,
  type AddOnDeploymentConfig,
  type AddOnTemplate,
  type ConfigReferent,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type { RenderedTemplate, TemplateInput } from '@berth/addon/rules/render-template';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import {
  outputOption,
  renderDocument,
  renderTextTable,
  type OutputFormat,
} from '../../../terminal/output-format.ts';
import type { CliCommand } from '../cli-command.ts';
import { readManifests } from '../objects/read-manifests.ts';
import { addonCommand } from './enable-addon.ts';

interface RenderFlags {
  readonly cluster: string;
  readonly template?: string;
  readonly config?: string;
  readonly output: OutputFormat;
}

export const renderAddonCommand: CliCommand = {
  register(program, run) {
    addonCommand(program)
      .command('render <file...>')
      .description('print what a cluster gets of an AddOnTemplate')
      .requiredOption('--cluster <name>', 'the managed cluster')
      .option('--template <name>', 'the AddOnTemplate, if the files have several')
      .option('--config <namespace/name>', 'the AddOnDeploymentConfig, if the files have several')
      .addOption(outputOption())
      .addHelpText('after', HELP)
      .action(run((io, files: readonly string[], flags: RenderFlags) => render(io, files, flags)));
  },
};

const HELP = `
The files have an AddOnTemplate and, where the add-on has one, its AddOnDeploymentConfig. A ManagedCluster
of the name gives its image registries. No hub is asked.
-o table prints variables and settings with their origin, and the objects; -o yaml and -o json print the manifests.

Exit codes: 0 rendered, 1 error.

Examples:
  berth addon render template.yaml --cluster cluster1
  berth addon render template.yaml config.yaml --cluster cluster1 -o yaml
  berth addon render addon/ --cluster cluster1 --template web-v2 --config team-a/small
`;

async function render(io: CliIo, files: readonly string[], flags: RenderFlags): Promise<ExitCode> {
  const objects = await readManifests(io, files);
  if (objects === undefined) return 1;
  const { renderAddOnTemplate, storedConfig } = await import('@berth/addon/rules/render-template');
  const rendered = renderAddOnTemplate(inputOf(objects, flags, storedConfig));
  if (!rendered.ok) throw new InputError(rendered.error, { code: 'addon.render', subject: flags.cluster });
  io.stdout.write(await print(rendered.value, flags));
  return 0;
}

/** The add-on of the cluster, as if its status named this template and this configuration. */
function inputOf(
  objects: readonly KubeObject[],
  flags: RenderFlags,
  asStored: (config: AddOnDeploymentConfig) => AddOnDeploymentConfig,
): TemplateInput {
  const templates = objects.filter(({ kind }) => kind === 'AddOnTemplate') as unknown as AddOnTemplate[];
  const configs = objects.filter(
    ({ kind }) => kind === 'AddOnDeploymentConfig',
  ) as unknown as AddOnDeploymentConfig[];
  const template = theOne('AddOnTemplate', '--template', templates, flags.template);
  if (template === undefined)
    throw new InputError('the files have no AddOnTemplate', {
      code: 'addon.render',
      subject: 'addon render',
    });
  const config = theOne('AddOnDeploymentConfig', '--config', configs, flags.config);
  const { addonName } = template.spec;
  return {
    addonName,
    cluster: {
      name: flags.cluster,
      annotations: objects.find(
        ({ kind, metadata }) => kind === 'ManagedCluster' && metadata.name === flags.cluster,
      )?.metadata.annotations,
    },
    addon: addonWith(addonName, flags.cluster, template, config),
    template: () => template,
    deploymentConfig: () => config && asStored(config),
  };
}

function addonWith(
  name: string,
  namespace: string,
  template: AddOnTemplate,
  config: AddOnDeploymentConfig | undefined,
): ManagedClusterAddOn {
  const reference = (resource: string, { metadata }: { readonly metadata: ConfigReferent }) => ({
    group: ADDON_GROUP,
    resource,
    lastObservedGeneration: 0,
    desiredConfig: { namespace: metadata.namespace, name: metadata.name, specHash: 'from a file' },
  });
  return {
    apiVersion: `${ADDON_GROUP}/v1beta1`,
    kind: 'ManagedClusterAddOn',
    metadata: { name, namespace },
    status: {
      configReferences: [
        reference('addontemplates', template),
        ...(config === undefined ? [] : [reference('addondeploymentconfigs', config)]),
      ],
    },
  };
}

/**
 * The object that a flag names, or the only one.
 * @throws InputError when there are several and no flag, or none of the name
 */
function theOne<T extends { readonly metadata: ConfigReferent }>(
  kind: string,
  flag: string,
  objects: readonly T[],
  wanted: string | undefined,
): T | undefined {
  const nameOf = ({ metadata }: T): string =>
    metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  const names = objects.map(nameOf).join(', ');
  if (wanted === undefined && objects.length <= 1) return objects[0];
  const found = objects.find((object) => nameOf(object) === wanted);
  if (found !== undefined) return found;
  const problem =
    wanted === undefined
      ? `the files have several: ${names}`
      : `got ${wanted}, the files have ${names || 'none'}`;
  throw new InputError(`${kind}: ${problem}`, { code: 'addon.render', subject: flag });
}

async function print(rendered: RenderedTemplate, { output }: RenderFlags): Promise<string> {
  const { manifests, values, settings, missing } = rendered;
  if (output === 'json') return renderDocument(manifests, 'json');
  if (output === 'yaml')
    return (await Promise.all(manifests.map((manifest) => renderDocument(manifest, 'yaml')))).join('---\n');
  const rows = (list: RenderedTemplate['values']) => list.map(({ name, value, from }) => [name, value, from]);
  const variables = [...rows(values), ...missing().map((name) => [name, '', 'nobody: it becomes empty'])];
  const objects = manifests.map(({ kind, metadata }) => [kind, metadata.namespace ?? '', metadata.name]);
  return [
    renderTextTable(['VARIABLE', 'VALUE', 'FROM'], variables),
    renderTextTable(['SETTING', 'VALUE', 'FROM'], rows(settings())),
    renderTextTable(['KIND', 'NAMESPACE', 'NAME'], objects),
  ].join('\n');
}
