import type { Problem } from '@berth/runtime/problem/problem';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';

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
export function encodeParsedFile({ manifests, problems, notJson = [] }: ParsedFile): string {
  const rows = manifests.map(
    ({ object, location, place }): ManifestRow => [
      object,
      location.line,
      location.column,
      place.document,
      place.within,
    ],
  );
  const [found, ofJson] = [problems, notJson].map((all) => all.map(problemRow));
  if (notJson.length > 0) return JSON.stringify([rows, found, ofJson]);
  return JSON.stringify(problems.length === 0 ? [rows] : [rows, found]);
}

function problemRow({ location, ...problem }: Problem): ProblemRow {
  return location === undefined ? problem : { ...problem, at: [location.line, location.column] };
}

/** @param text the output of encodeParsedFile */
export function decodeParsedFile(file: string, text: string): ParsedFile {
  const [rows, found = [], notJson] = JSON.parse(text) as readonly [
    readonly ManifestRow[],
    (readonly ProblemRow[])?,
    (readonly ProblemRow[])?,
  ];
  const problemsOf = (all: readonly ProblemRow[]): readonly Problem[] =>
    all.map(({ at, ...problem }) =>
      at === undefined ? problem : { ...problem, location: { file, line: at[0], column: at[1] } },
    );
  return {
    manifests: rows.map(([object, line, column, document, within]) => ({
      object,
      location: { file, line, column },
      place: { document, within },
    })),
    problems: problemsOf(found),
    ...(notJson && { notJson: problemsOf(notJson) }),
  };
}

/** The bytes of several files in sequence, and the length of each. */
export interface PackedFiles {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export function packFiles(parts: readonly Buffer[]): PackedFiles {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, lengths: parts.map((part) => part.length) };
}

export function unpackFiles({ bytes, lengths }: PackedFiles): Buffer[] {
  let at = 0;
  return lengths.map((length) => {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset + at, length);
    at += length;
    return part;
  });
}
