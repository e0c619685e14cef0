/** The candidate that was probably meant by a mistyped name: at most two edits away, or undefined. */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.ceil(name.length / 2) + 1);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Levenshtein distance, row by row; `limit` if it is not smaller. Cells farther from the diagonal
 * are not computed, because names from files may be very long and many.
 */
function editDistance(a: string, b: string, limit: number): number {
  let row = Array.from({ length: 2 * limit + 1 }, (_, at) => (at < limit ? limit : at - limit));
  for (let i = 1; i <= a.length; i++) {
    // The cell at `at` is the first `i` characters of a and the first `i + at - limit` of b.
    const next: number[] = [];
    for (let at = 0; at <= 2 * limit; at++) {
      const j = i + at - limit;
      if (j < 0 || j > b.length) next.push(limit);
      else if (j === 0) next.push(Math.min(limit, i));
      else {
        const substitute = (row[at] ?? limit) + (a[i - 1] === b[j - 1] ? 0 : 1);
        next.push(Math.min(limit, substitute, (row[at + 1] ?? limit) + 1, (next[at - 1] ?? limit) + 1));
      }
    }
    if (next.every((cell) => cell === limit)) return limit;
    row = next;
  }
  return row[b.length - a.length + limit] ?? limit;
}
