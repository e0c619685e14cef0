import { Option } from 'commander';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { Listed } from '../../../../core/listing/listed.ts';
import { renderDocument } from '../../../terminal/output-format.ts';
import { wrongOption, wrongValue } from '../../flags/option-values.ts';

/** The objects of a `berth get`. The functions make tables of the objects that the arguments name. */
export interface ReadObjects {
  readonly objects: readonly KubeObject[];
  readonly list: (objects: readonly KubeObject[], nowMs: number) => Listed;
  /** The table of `-o wide`. */
  readonly listWide?: (objects: readonly KubeObject[]) => Listed;
  /** The table of `clusteradm`, where the one for people has other columns. */
  readonly listOfClusteradm?: (objects: readonly KubeObject[]) => Listed;
}

const JSONPATH = 'jsonpath=';

/** `-o, --output` of `berth get`. Absent: the table for people. @param more formats of this command */
export function getOutputOption(more: readonly string[]): Option {
  const known = ['table', ...more, 'name', 'json', 'yaml'];
  const option = new Option('-o, --output <format>', `output format, or ${JSONPATH}TEMPLATE`);
  return option.choices(known).argParser((text: string) => {
    if (!known.includes(text) && !text.startsWith(JSONPATH))
      throw wrongValue('--output', text, `${known.join(', ')} or ${JSONPATH}TEMPLATE`);
    return text;
  });
}

/** @param output of the flag */
export function tableOf(read: ReadObjects, output: string | undefined, nowMs: number): Listed {
  const { objects, list, listWide, listOfClusteradm } = read;
  if (output === 'wide' && listWide !== undefined) return listWide(objects);
  if ((output === 'table' || output === 'clusteradm') && listOfClusteradm !== undefined)
    return listOfClusteradm(objects);
  return list(objects, nowMs);
}

/**
 * Reads a template before the hub is asked.
 * @throws InputError for one with a mistake
 */
export async function checkGetOutput(output: string): Promise<void> {
  if (output.startsWith(JSONPATH)) await templateOf(output);
}

/**
 * @param document one object, or a List of all
 * @returns undefined for the format of a table
 */
export async function renderObjects(
  document: object,
  objects: readonly KubeObject[],
  output: string,
): Promise<string | undefined> {
  if (output === 'json' || output === 'yaml') return renderDocument(document, output);
  if (output === 'name') return objects.map((object) => `${typedName(object)}\n`).join('');
  if (!output.startsWith(JSONPATH)) return undefined;
  const { findResults } = await import('@berth/kube-jsonpath/find-results');
  const { formatJsonPathValue } = await import('@berth/kube-jsonpath/format-value');
  const found = findResults(await templateOf(output), document);
  if (!found.ok) throw wrongOption('--output', found.error);
  return `${found.results.map((result) => result.map(formatJsonPathValue).join(' ')).join('')}\n`;
}

async function templateOf(output: string) {
  const { parseJsonPath } = await import('@berth/kube-jsonpath/parse-template');
  const parsed = parseJsonPath(output.slice(JSONPATH.length));
  if (!parsed.ok) throw wrongOption('--output', parsed.error);
  return parsed.template;
}

/** `placement.cluster.open-cluster-management.io/web`, as kubectl prints it. */
function typedName({ apiVersion, kind, metadata }: KubeObject): string {
  const { group } = groupVersionOf(apiVersion);
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${metadata.name}`;
}
