import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { renderGoTemplate } from '@berth/go-template/render-go-template';
import { TemplateError, type TemplateValue } from '@berth/go-template/values';
import { errorText, InputError } from '@berth/runtime/errors';
import { compareText } from '@berth/runtime/text/compare-text';
import {
  annotatedValues,
  jsonValues,
  mergeValues,
  templateBuiltIns,
  templateConfigValues,
} from './rules/values.ts';
import {
  factsOf,
  type GivenValues,
  type ManifestSource,
  parseManifests,
  resolveValues,
} from './sources/rendered-manifests.ts';

export interface GoTemplatesOptions {
  readonly values?: GivenValues | undefined;
}

interface TemplateFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Manifests from a folder of Go templates, with its folders, in the order of their names. Each file makes any number
 * of objects; `values` are `.`: `{{ .ClusterName }}`. Built in are `ClusterName`, `AddonInstallNamespace` and
 * `InstallMode`, and `HubKubeConfigSecret` and `ManagedKubeConfigSecret`, which others may override. Then count, later
 * ones over earlier ones: the given values, those of the AddOnDeploymentConfig (its variables, `NodeSelector`,
 * `Tolerations`, `HTTPProxy` …), the add-on's annotation `addon.open-cluster-management.io/values`.
 *
 * Functions are those of text/template and sprig. Unlike in addon-framework, a value that is missing where it is
 * printed is an error, and not the text `<no value>` in a manifest.
 * Source: open-cluster-management.io/addon-framework `pkg/addonfactory/template_agentaddon.go`.
 * @throws InputError when the folder cannot be read or is empty; the source: for what cannot be rendered
 */
export function goTemplates(folder: string, { values: given }: GoTemplatesOptions = {}): ManifestSource {
  const files = readTemplates(folder);
  return async (context) => {
    const { defaults, fixed } = templateBuiltIns(factsOf(context));
    const config = templateConfigValues(context.deploymentConfig?.spec ?? {});
    const own = await resolveValues(given, context);
    const values = jsonValues(mergeValues(defaults, own, config, annotatedValues(context.addon), fixed));
    const data = asGoNumbers(values);
    return files.flatMap((file) => parseManifests(render(file, data), file.path));
  };
}

function readTemplates(folder: string): readonly TemplateFile[] {
  const details = { code: 'addon.templates', subject: folder };
  let files: readonly TemplateFile[];
  try {
    files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort(compareText)
      .map((path) => ({ path: relative(folder, path), text: readFileSync(path, 'utf8') }));
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, { ...details, cause });
  }
  if (files.length > 0) return files;
  throw new InputError('is empty, expected files with Go templates', details);
}

const NO_VALUE = '<no value>';

function render({ path, text }: TemplateFile, data: TemplateValue): string {
  const details = { code: 'addon.templates', subject: path };
  let rendered: string;
  try {
    rendered = renderGoTemplate(text, data, []);
  } catch (cause) {
    if (!(cause instanceof TemplateError)) throw cause;
    // The message repeats the whole text of the template.
    throw new InputError(cause.message.replace(`${text}: `, ''), { ...details, cause });
  }
  if (!rendered.includes(NO_VALUE) || text.includes(NO_VALUE)) return rendered;
  const line = rendered.slice(0, rendered.indexOf(NO_VALUE)).split('\n').length;
  throw new InputError(`prints a value that is missing, in line ${line} of what it makes`, {
    ...details,
    hint: 'give the value, or print it only where it is: {{ with .NAME }}{{ . }}{{ end }}',
  });
}

/** Whole numbers are integers in Go, which prints large ones without an exponent. */
function asGoNumbers(value: unknown): TemplateValue {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(asGoNumbers);
  if (typeof value !== 'object' || value === null) return value as TemplateValue;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asGoNumbers(item)]));
}
