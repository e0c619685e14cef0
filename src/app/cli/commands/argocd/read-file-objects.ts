import { readFile } from 'node:fs/promises';
import { InputError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * The objects of a YAML file that is to be rendered: ApplicationSets, and what they need.
 * @param full the absolute path
 * @param file the path as the user gave it, for errors
 * @throws InputError when the file cannot be read, or for an object that no API server would store
 */
export async function readFileObjects(full: string, file: string): Promise<readonly KubeObject[]> {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new InputError(problem, { code: 'argocd.render.file', subject: file, cause });
  };
  const text = await readFile(full, 'utf8').catch((cause: unknown) =>
    refuse('the file cannot be read', cause),
  );
  const { default: yaml } = await import('js-yaml');
  const { kubectlSchema } = await import('@berth/kube/yaml/kubectl-schema');
  let documents: readonly unknown[];
  try {
    documents = yaml.loadAll(text, null, { schema: kubectlSchema(), filename: file });
  } catch (cause) {
    return refuse(`the file is not YAML: ${(cause as Error).message.split('\n')[0] ?? ''}`, cause);
  }
  const objects = documents.filter((document) => document !== null && document !== undefined);
  for (const [index, object] of objects.entries()) {
    const problem = objectProblem(object);
    if (problem !== undefined) refuse(`${nameOf(object, index)}: ${problem}`);
  }
  return objects as unknown as readonly KubeObject[];
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(object: unknown, index: number): string {
  const { kind, metadata } = isObject(object) ? object : {};
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof kind === 'string' && typeof name === 'string'
    ? `${kind} ${name}`
    : `document ${String(index + 1)}`;
}

function objectProblem(object: unknown): string | undefined {
  if (!isObject(object)) return 'it is not a Kubernetes object';
  const { kind, metadata, data, stringData } = object;
  if (typeof kind !== 'string') return 'kind is missing, or is not a string';
  if (!isObject(metadata) || typeof metadata['name'] !== 'string')
    return 'metadata.name is missing, or is not a string';
  if (kind === 'ConfigMap') return textsProblem('data', data);
  if (kind !== 'Secret') return undefined;
  return textsProblem('data', data, isBase64) ?? textsProblem('stringData', stringData);
}

function textsProblem(
  field: string,
  texts: unknown,
  isValid: (text: string) => boolean = () => true,
): string | undefined {
  if (texts === undefined || texts === null) return undefined;
  if (!isObject(texts)) return `${field} is not a map`;
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value !== 'string') return `${field}.${key} is not a string: got ${JSON.stringify(value)}`;
    if (!isValid(value)) return `${field}.${key} is not base64: put plain text into stringData`;
  }
  return undefined;
}

/** Whether Go's standard decoder accepts the text: it requires padding, and ignores line breaks. */
function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[\r\n]/g, '');
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}
