import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '@berth/runtime/problem/problem';

/** One manifest: object, line, column, index of its document, path inside the document. */
type ManifestRow = readonly [
  object: ParsedFile['manifests'][number]['object'],
  line: number,
  column: number,
  document: number,
  within: ParsedFile['manifests'][number]['place']['within'],
];
type ProblemRow = Omit<Problem, 'location'> & { readonly at?: readonly [line: number, column: number] };

/**
 * The parsed content of a blob as JSON, without a file name, because several files may have the
 * same blob.
 */
export function encodeParsedFile({ manifests, problems }: ParsedFile): string {
  const rows = manifests.map(
    ({ object, location, place }): ManifestRow => [
      object,
      location.line,
      location.column,
      place.document,
      place.within,
    ],
  );
  const found = problems.map(
    ({ location, ...problem }): ProblemRow =>
      location === undefined ? problem : { ...problem, at: [location.line, location.column] },
  );
  return JSON.stringify(found.length === 0 ? [rows] : [rows, found]);
}

/** @param text the output of encodeParsedFile */
export function decodeParsedFile(file: string, text: string): ParsedFile {
  const [rows, found = []] = JSON.parse(text) as readonly [readonly ManifestRow[], (readonly ProblemRow[])?];
  return {
    manifests: rows.map(([object, line, column, document, within]) => ({
      object,
      location: { file, line, column },
      place: { document, within },
    })),
    problems: found.map(({ at, ...problem }) =>
      at === undefined ? problem : { ...problem, location: { file, line: at[0], column: at[1] } },
    ),
  };
}
