import { notAcceptable } from './status-errors.ts';

/** The requested form of a response. */
export type ResponseForm =
  | { readonly as: 'object'; readonly yaml: boolean }
  | { readonly as: 'table'; readonly apiVersion: 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1' }
  | { readonly as: 'partial' };

/** Maximum number of entries; a header could contain thousands, and each is parsed and sorted. */
const MEDIA_RANGES = 64;

/** One entry of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The entries of an Accept header, most preferred first. */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', parameters: new Map() }];
  const ranges = header.split(',', MEDIA_RANGES).map((part) => {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
    const pairs = rest.map((piece): [string, string] => {
      const equals = piece.indexOf('=');
      return equals < 0
        ? [piece, '']
        : [piece.slice(0, equals), piece.slice(equals + 1).replace(/^"|"$/g, '')];
    });
    return { type: type.toLowerCase(), parameters: new Map(pairs) };
  });
  const quality = (range: MediaRange): number => {
    const q = Number(range.parameters.get('q') ?? '1');
    return Number.isNaN(q) ? 1 : q;
  };
  return ranges.filter((range) => quality(range) > 0).sort((a, b) => quality(b) - quality(a));
}

const JSON_TYPES = new Set(['application/json', 'application/*', '*/*']);
const META_VERSIONS = new Set(['v1', 'v1beta1']);

/**
 * The first acceptable form. Protobuf is never written: every client that asks for it lists JSON as well.
 * @throws StatusError 406
 */
export function negotiateForm(accept: string | undefined): ResponseForm {
  for (const range of parseAccept(accept)) {
    const form = formOf(range);
    if (form !== undefined) return form;
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}

function formOf(range: MediaRange): ResponseForm | undefined {
  const as = range.parameters.get('as');
  if (range.type === 'application/yaml') return as === undefined ? { as: 'object', yaml: true } : undefined;
  if (!JSON_TYPES.has(range.type)) return undefined;
  if (as === undefined) return { as: 'object', yaml: false };
  const version = range.parameters.get('v') ?? 'v1';
  if (range.parameters.get('g') !== 'meta.k8s.io' || !META_VERSIONS.has(version)) return undefined;
  if (as === 'Table')
    return { as: 'table', apiVersion: version === 'v1' ? 'meta.k8s.io/v1' : 'meta.k8s.io/v1beta1' };
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return { as: 'partial' };
  return undefined;
}

/** Whether the client accepts gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  return parseAccept(header ?? 'identity').some((range) => range.type === 'gzip');
}
