/** The conversation page's one entry: other modules are imported by path, so that each exists once. */
import "./connection.js";
import "./transcript.js";
import "./settings.js";
import "./composer.js";
import "./search.js";
import "./sidebar.js";
import "./lightbox.js";
import "./copy.js";
import "./feedback.js";
import "./marks.js";
