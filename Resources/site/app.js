// The local substitute's script.
(async () => {
  const line = document.getElementById("answer");
  document.querySelector("#js b").textContent = "local file";
  const status = await (await fetch(document.getElementById("status").href)).json();
  line.textContent = "Answered by: " + status.answeredBy + ". " + status.note;
  document.querySelector("#json b").textContent = status.answeredBy;
})();
