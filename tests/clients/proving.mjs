// Says what a program has proven: one line of JSON for each thing, printed when it held.
// Runs in the environment of a client, beside its program.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Say which client this is. */
export function introduce(client) {
  const manifest = join(process.cwd(), "node_modules", client, "package.json");
  console.log(JSON.stringify({ client, version: JSON.parse(readFileSync(manifest, "utf8")).version }));
}

/** Print the sentence when the function ends well; an assertion in it ends the program. */
export async function proof(sentence, prove) {
  await prove();
  console.log(JSON.stringify({ proved: sentence }));
}
